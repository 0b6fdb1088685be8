namespace Shop
{
    class Outer { }
    namespace Inner { class Deep { void Run() { } } }
}
