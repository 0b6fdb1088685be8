"""What must be said once is kept until somebody takes it."""

from concurrent.futures import ThreadPoolExecutor

from memory_bank.base.repairs import Reports, describe_repairs


def test_each_is_taken_once_in_the_order_in_which_it_happened() -> None:
    reports = Reports()
    assert reports.take() == []
    reports.add("writing", "keyword")
    reports.add("writing")
    reports.add("manifest")
    assert reports.take() == ["writing", "keyword", "manifest"]
    assert reports.take() == []
    reports.add("writing")
    assert reports.take() == ["writing"]


def test_threads_lose_nothing_and_say_nothing_twice() -> None:
    reports = Reports()
    wanted = [[f"{thread}-{number}" for number in range(2000)] for thread in range(4)]

    def add(names: list[str]) -> None:
        for name in names:
            reports.add(name)

    taken: list[str] = []
    with ThreadPoolExecutor(4) as threads:
        adding = [threads.submit(add, names) for names in wanted]
        while not all(one.done() for one in adding):
            taken += reports.take()
    taken += reports.take()
    assert sorted(taken) == sorted(name for names in wanted for name in names)


def test_in_words() -> None:
    assert describe_repairs([]) == ""
    assert describe_repairs(["keyword", "writing", "notes"]) == (
        "finished a change of several files that was cut short; rebuilt: keyword, notes"
    )
