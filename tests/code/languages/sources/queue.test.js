describe('queue', () => {
  describe("on timeout", function () {
    it.only(`retries ${3} times`, async () => {
      await new Queue().push(1);
    });
    test.each([[1, 2]])('adds %d', (a) => add(a));
  });
  describe(Queue, () => { it('is empty', () => {}); it.todo("is full"); });
});
edit('no test', () => {});
pattern.test('no test');
