using System;
using static System.Math;
using Money = Shop.Prices.Money;

namespace Shop.Carts;

/// <summary>
/// What a customer wants to buy, see <see cref="T:Shop.Item"/>.
/// </summary>
/// <typeparam name="T">The items.</typeparam>
[Serializable]
[Table("carts")]
public sealed class Cart<T> : Base, IPriced where T : class
{
    /// <summary>The most items.</summary>
    public const int Limit = 50, Least = 1;
    private static readonly string Currency = "EUR";
    public int Count { get; set; }

    public Cart(IStore store) : base(store) { Count = 0; }
    ~Cart() { Dispose(); }

    /* Sums the prices. */
    [Obsolete] public async Task<int> TotalAsync(
        int tax = 3) => await _store.Get<int>(1).ValueAsync() + tax;

    public static Cart<T> operator +(Cart<T> a, Cart<T> b) => a.Merge(b);

    void IPriced.Print()
    {
        int Twice(int x) => x * 2;
        _log?.Write(new List<int>(Count), Twice(4), Shop.Tools.Now());
    }

    enum State { Open, Paid }
    public delegate int Rate(int cents);
}

public record Line(int Cents, int Many);
public readonly record struct Money(int Cents) { public int Euros() => Cents / 100; }
struct Point { }
interface IPriced { void Print(); }
