public class CartTests
{
    [Fact] public void SumsAllPrices() { Assert.Equal(3, new Cart().Total()); }

    [Theory(DisplayName = "refuses too many items")]
    [InlineData(51)]
    public void Limit(int many) { }

    [Test, Description("costs nothing")] public void TestEmpty() { }
    [TestMethod("is printed")] public void Prints() { }
    [Xunit.FactAttribute] public void Rounds() { }
    private void Helper() { }
}
