"""Rules make observations of events that say what happened: its type, its title, its files."""

import pytest

from memory_bank.sessions.compression.wording import word_observations
from tests.support.growth import times_as_long

from .events_of import BEGUN, ROOT, Work

FAILED = "E       AssertionError: assert 2 == 3\nFAILED tests/test_job.py::test_run - AssertionError: assert 2 == 3\n1 failed, 3 passed in 0.10s\n"
DEF = "def run(order):\n    charge(order)\n"


def test_a_command_that_fails_and_passes_after_an_edit_is_a_bugfix() -> None:
    work = Work("Payments fail, have a look.").read("src/job.py", DEF)
    work.run("cd /repo && python -m pytest -q tests/test_job.py 2>&1 | tail -20", FAILED, 1)
    work.edit("src/job.py", "def run():\n    times = 2\n", "def run():\n    times = 3\n")
    made = work.run("pytest tests/test_job.py", "4 passed in 0.10s").draft()
    assert made.obs_type == "bugfix"
    assert made.title == "Change src/job.py"
    assert made.facts[0] == (
        "`cd /repo && python -m pytest -q tests/test_job.py 2>&1 | tail -20` fails with exit code 1:"
        " 1 failed, 3 passed; AssertionError: assert 2 == 3"
    )
    assert "at tests/test_job.py::test_run" in made.facts
    assert "`pytest tests/test_job.py` passes: 4 passed" in made.facts
    assert made.files_modified == ("src/job.py",)
    assert made.discovery_tokens > 0
    assert made.created_at == work.events[-1].created_at


@pytest.mark.parametrize(
    ("old", "new", "obs_type", "title"),
    [
        ("x = 1", "x = 1\n\n\ndef retry(call):\n    pass", "feature", "Add retry() (src/job.py)"),
        ("def a():\n    pass\n", "", "change", "Remove a() (src/job.py)"),
        ("class A:\n    t = 30", "class A:\n    t = 60", "change", "Change src/job.py"),
        ("    go()", "    if ready:\n        go()", "change", "Change src/job.py"),
    ],
)  # fmt: skip
def test_an_edit_is_told_by_what_changed(old: str, new: str, obs_type: str, title: str) -> None:
    made = Work("Look at the job please").edit("src/job.py", old, new).draft()
    assert (made.obs_type, made.title) == (obs_type, title)


@pytest.mark.parametrize(
    ("path", "text", "obs_type", "title"),
    [
        ("src/a.py", "import x\n\nclass Job:\n    pass\n", "feature", "Create src/a.py with class Job"),
        ("docs/a.md", "# Use\n\n## Install\n", "change", "Create docs/a.md"),
        ("tests/test_a.py", "def test_one(): ...\n", "change", "Create tests/test_a.py with test_one()"),
        ("web/a.test.ts", "describe('cart', () => {\n  it('adds up', () => {})\n})\n", "change", "Create web/a.test.ts with test “cart” and test “adds up”"),
        ("conf.toml", "[tool]\nname = 1\n", "change", "Create conf.toml"),
        ("main.go", "func (s *Server) Run() {\n}\ntype Server struct {}\n", "feature", "Create main.go with Run()"),
        ("lib.rs", "pub async fn load<T>(x: T) {}\nimpl X {}\n", "feature", "Create lib.rs with load()"),
        ("A.java", "public class A {\n  public static int sum(int a) {\n", "feature", "Create A.java with class A"),
        ("data.csv", "id,name\n1,x\n", "change", "Create data.csv"),
        ("empty.py", "", "feature", "Create empty.py"),
    ],
)  # fmt: skip
def test_a_new_file_is_told_by_what_it_defines(
    path: str, text: str, obs_type: str, title: str
) -> None:
    listed = {"changes": {f"/repo/{path}": {"type": "add", "content": text}}}
    for work in (Work("Go on").write(path, text), Work("Go on").call("apply_patch", listed)):
        made = work.draft()
        assert (made.obs_type, made.title, made.files_modified) == (obs_type, title, (path,))


def test_edits_of_one_file_in_one_prompt_become_one_and_what_was_undone_is_in_none() -> None:
    work = Work("Add a limit to the job", "And now the rest")
    work.edit("src/job.py", "a = 1", "a = 1\nprint(1)").edit(
        "src/job.py", "a = 1\nprint(1)", "a = 1"
    )
    work.edit("src/job.py", "a = 1", "a = 1\n\ndef limit():\n    pass")
    first, second = work.then().edit("src/job.py", "b = 1", "b = 2").drafts()
    assert first.title == "Add limit() (src/job.py)"
    assert not [fact for fact in first.facts if "print" in fact]
    assert (second.prompt_number, second.title) == (2, "Change src/job.py")


def test_reading_belongs_to_the_edits_and_alone_is_told_only_with_an_answer() -> None:
    work = Work("Improve the job module", "How do payments work?", "And refunds?")
    work.read("src/pay.py", DEF).call("Grep", {"pattern": "charge"}, "src/pay.py:2: charge")
    work.edit("src/job.py", "a = 1", "def job():\n    pass")
    work.then().read("src/pay.py", DEF).run("grep -rn refund src", "", 1)
    work.say(
        "Sure.\n\n**Payments** are charged once, by `charge(order)` in `src/pay.py`. No refunds."
    )
    work.then().read("src/pay.py", DEF)
    edit, look = work.drafts()
    assert edit.files_read == ("src/pay.py",)
    assert look.obs_type == "discovery"
    assert look.title == "Payments are charged once, by charge(order) in src/pay.py"
    assert look.narrative.endswith("No refunds.")
    assert look.facts == ("`grep -rn refund src` fails with exit code 1",)


@pytest.mark.parametrize(
    ("command", "output", "told"),
    [
        ("npm test", "Tests:       2 failed, 3 passed, 5 total", "2 failed, 3 passed"),
        ("npx vitest run", " Tests  1 failed | 3 passed (4)", "1 failed, 3 passed"),
        ("go test ./...", "--- FAIL: TestRun (0.00s)\n    job_test.go:12: got 2, want 3\nFAIL\tshop/job\t0.1s", "1 failed"),
        ("cargo test", "test result: FAILED. 3 passed; 1 failed; 0 ignored", "1 failed, 3 passed"),
        ("mvn -q test", "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0", "1 failed, 4 passed"),
        ("python -m unittest", "Ran 2 tests in 0.1s\n\nFAILED (failures=1, errors=1)", "2 failed"),
        ("bundle exec rspec", "5 examples, 2 failures", "2 failed, 5 passed"),
        ("npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", "TS2322: Type 'string' is not assignable"),
        ("make", "ring.c:22:37: error: expected ';' before 'ring'\nmake: *** [Makefile:6: ring_test] Error 1", "expected ';' before 'ring'"),
        ("cargo build", "error[E0308]: mismatched types\n --> src/lib.rs:15:17", "mismatched types"),
        ("ruff check .", "src/a.py:1:8: F401 `os` imported but unused\nFound 1 error.", "Found 1 error."),
        ("python job.py", "Traceback (most recent call last):\n  File \"/repo/job.py\", line 3, in <module>\nNameError: name 'x' is not defined", "NameError: name 'x' is not defined"),
        ("docker compose up", "Error response from daemon: port is already allocated", "port is already allocated"),
        ("./deploy.sh", "bash: ./deploy.sh: Permission denied", "./deploy.sh: Permission denied"),
        ("terraform plan", "something odd happened", "something odd happened"),
    ],
)  # fmt: skip
def test_a_failure_is_named_with_what_it_says(command: str, output: str, told: str) -> None:
    made = Work("Please check the project").run(command, output, 1).draft()
    assert made.obs_type == "discovery"
    assert made.title.startswith(f"{command} fails: ")
    assert told in " ".join((made.title, *made.facts))
    assert f"`{command}` fails with exit code 1" in made.facts[0]


def test_tests_that_fail_behind_a_pipe_fail_although_the_exit_code_is_none() -> None:
    made = (
        Work("Please run the tests").run("pytest | tail -3", "2 failed, 1 passed in 0.2s").draft()
    )
    assert any(
        fact.startswith("`pytest | tail -3` fails: 2 failed, 1 passed") for fact in made.facts
    )


def test_an_output_without_an_exit_code_tells_a_failure_by_what_it_says() -> None:
    work = Work("Please build it").call("Bash", {"command": "make"}, "make: *** [all] Error 2\n")
    work.call("Bash", {"command": "cat log.txt"}, "Traceback (most recent call last):\nX")
    made = work.drafts()
    assert any("`make` fails" in fact for one in made for fact in one.facts)
    assert not any("log.txt` fails" in fact for one in made for fact in one.facts)


def test_a_commit_names_the_edits_of_its_prompt() -> None:
    work = Work("Add retries to the job").write("src/retry.py", "def retry(): ...\n")
    work.edit("src/job.py", "go()", "retry(go)").write("docs/a.md", "# Retries\n")
    work.run(
        'git commit -qam "feat(job): retry three times\n\nThe gateway is slow."', "[main 1a2b3c]"
    )
    made = work.draft()
    assert (made.obs_type, made.narrative) == ("feature", "The gateway is slow.")
    assert made.title == "Retry three times (src/retry.py and 2 other files)"
    assert made.files_modified == ("src/retry.py", "src/job.py", "docs/a.md")


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Hello. Use httpx instead of requests. Thanks!", "Use httpx instead of requests"),
        ("We decided to keep SQLite", "We decided to keep SQLite"),
        ("Should we use httpx instead of requests?", "Change src/a.py"),
    ],
)
def test_a_prompt_that_decides_is_a_decision(prompt: str, title: str) -> None:
    made = Work(prompt).edit("src/a.py", "import requests", "import httpx").draft()
    assert made.title == title
    assert (made.obs_type == "decision") == (not prompt.endswith("?"))


@pytest.mark.parametrize(
    ("command", "changed", "title"),
    [
        ("sed -i 's/old_name/new_name/g' src/a.py src/b.py", ("src/a.py", "src/b.py"), "src/a.py"),
        ("cat > conf/a.toml <<'EOF'\n[server]\nport = 1\nEOF\n", ("conf/a.toml",), "Create conf/a.toml"),
        ("git mv src/a.py src/b.py", ("src/a.py", "src/b.py"), "Move src/a.py to src/b.py"),
        ("cd src && rm -f old.py", ("src/old.py",), "Remove"),
        ("echo x >> notes.txt 2>/dev/null", ("notes.txt",), "notes.txt"),
        ("cp a.py b.py && touch c.py", ("b.py", "c.py"), "b.py"),
        ("make 2>&1 | tee build.log", ("build.log",), "build.log"),
        ("python gen.py > /etc/motd", ("/etc/motd",), "/etc/motd"),
    ],
)  # fmt: skip
def test_files_that_a_command_changes_are_named(
    command: str, changed: tuple[str, ...], title: str
) -> None:
    made = Work("Please do it with the shell").run(command).drafts()
    found = [path for one in made for path in one.files_modified]
    assert sorted(found) == sorted(changed)
    assert any(title in one.title for one in made)
    assert not any(one.files_modified == () for one in made)


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def run():
-    go(1)
+    go(2)
*** Add File: src/new.py
+def fresh():
+    pass
*** Delete File: src/old.py
*** Update File: src/x.py
*** Move to: src/y.py
@@
-a
+b
*** End Patch
"""
NAMES = {"src/a.py", "src/new.py", "src/old.py", "src/x.py", "src/y.py"}


@pytest.mark.parametrize(
    ("tool", "given", "output", "changed"),
    [
        ("apply_patch", {"command": PATCH}, "Success.", NAMES),
        ("Bash", {"command": f"apply_patch <<'EOF'\n{PATCH}EOF"}, "Success.", NAMES),
        ("patch", {"patchText": PATCH}, {"output": "ok"}, NAMES),
        ("MultiEdit", {"file_path": "/repo/a.py", "edits": [{"old_string": "a", "new_string": "b"}]}, "", {"a.py"}),
        ("NotebookEdit", {"notebook_path": "/repo/n.ipynb", "new_source": "x"}, "", {"n.ipynb"}),
        ("write_file", {"file_path": "/repo/g.py", "content": "x = 1"}, {"returnDisplay": {"isNewFile": True}}, {"g.py"}),
        ("replace", {"file_path": "/repo/g.py", "old_string": "x", "new_string": "y"}, {"llmContent": "ok"}, {"g.py"}),
        ("replace", {"file_path": "/repo/g.py", "old_string": "x", "new_string": "y"}, {"error": {"message": "not found"}}, set()),
        ("edit", {"filePath": "/repo/o.ts", "oldString": "a", "newString": "b"}, {"metadata": {}}, {"o.ts"}),
        ("write", {"filePath": "/repo/o.ts", "content": "a"}, {"metadata": {"exists": False}}, {"o.ts"}),
        ("create", {"path": "/repo/c.ts", "file_text": "a"}, {"textResultForLlm": "ok"}, {"c.ts"}),
        ("edit", {"path": "/repo/c.ts", "old_str": "a", "new_str": "b"}, "", {"c.ts"}),
        ("Write", {"path": "/repo/u.ts", "contents": "a"}, '"{}"', {"u.ts"}),
        ("Delete", {"path": "/repo/u.ts"}, '"{}"', {"u.ts"}),
        ("apply_patch", {"changes": {"/repo/k.py": {"type": "update", "unified_diff": "@@\n-a\n+b\n", "move_path": "/repo/l.py"}}}, "", {"k.py", "l.py"}),
        ("Edit", {"file_path": "C:\\other\\w.py", "old_string": "a", "new_string": "b"}, "", {"C:/other/w.py"}),
        ("Edit", {"file_path": "../../etc/x", "old_string": "a", "new_string": "b"}, "", {"/etc/x"}),
        ("Edit", "{not json", "", set()),
        ("Edit", {"file_path": 7, "edits": "no"}, ["x"], set()),
        ("Read", {"file_path": "/repo/r.py"}, {"file": None}, set()),
    ],
)  # fmt: skip
def test_the_files_of_all_clients_tools_are_named(
    tool: str, given: object, output: object, changed: set[str]
) -> None:
    made = Work("Please change this for me").call(tool, given, output).drafts()
    assert {path for one in made for path in one.files_modified} == changed


@pytest.mark.parametrize(
    ("tool", "given", "output"),
    [
        ("Bash", {"command": "x"}, "Exit code 3\nbad"),
        ("run_shell_command", {"command": "x"}, {"llmContent": "<untrusted_context>\nOutput: bad\nExit Code: 3\nProcess Group PGID: 1\n</untrusted_context>"}),
        ("bash", {"command": "x"}, {"title": "x", "metadata": {"output": "bad", "exit": 3}, "output": "bad"}),
        ("bash", {"command": "x"}, {"resultType": "success", "textResultForLlm": "bad\n<shellId: 0 completed with exit code 3>"}),
        ("Bash", {"command": ["bash", "-lc", "x"]}, {"output": "bad", "exit_code": 3}),
        ("exec_command", {"cmd": "x"}, "Wall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nbad"),
    ],
)  # fmt: skip
def test_the_exit_codes_of_all_clients_are_found(tool: str, given: object, output: object) -> None:
    made = Work("Please run this for me").call(tool, given, output).draft()
    assert made.facts[0] == "`x` fails with exit code 3: bad"


def test_the_open_steps_of_a_plan_are_kept_and_an_agents_result_is_told() -> None:
    work = Work("Find out how it is done")
    steps = [
        {"content": "Write docs", "status": "pending"},
        {"content": "x", "status": "completed"},
    ]
    work.call(
        "Agent",
        {"description": "Search the cache", "prompt": "…"},
        {"content": [{"type": "text", "text": "It is kept in src/c.py. More."}]},
    )
    work.call("TodoWrite", {"todos": steps}, "ok")
    made = work.draft()
    assert made.title == "It is kept in src/c.py"
    assert made.facts == ("next: Write docs",)


def test_texts_are_visible_bounded_and_the_same_each_time() -> None:
    work = Work("x" * 5000).edit("src/\x1b[31ma\u202eb.py", "a", "\x1b]0;title\x07b" * 500)
    work.run("y" * 10_000, "\x1b[31merror: " + "z" * 100_000, 1)
    made = work.drafts()
    for one in made:
        texts = (
            one.title,
            one.subtitle,
            one.narrative,
            *one.facts,
            *one.concepts,
            *one.files_modified,
        )
        assert all(text.replace("\n", "").isprintable() for text in texts)
        assert len(one.title) < 100
        assert sum(map(len, texts)) < 6000
    assert made == list(word_observations(work.events, work.prompts, ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["(", "a = b\n", "'", '"', "$(", "<<A ", "def f(\n", "- ", "=", "a:1: ", " 1 failed,", "# ", "\\"])  # fmt: skip
def test_hostile_texts_take_linear_time(unit: str) -> None:
    import time

    def took(size: int) -> float:
        text = unit * (size // len(unit))
        work = Work(text).run(text, text, 1).edit("a.py", text, text + "x").write("b.py", text)
        work.call("apply_patch", {"command": "*** Begin Patch\n*** Update File: a\n" + text})
        began = time.process_time()
        word_observations(work.events, work.prompts, ROOT)
        return time.process_time() - began

    assert times_as_long(took, 25_000, 100_000, enough=0.4, most=7) <= 7


def test_nothing_becomes_nothing() -> None:
    assert word_observations([], [], None) == ()
    assert BEGUN.year == 2026


def test_a_command_that_writes_and_passes_is_behind_one_observation() -> None:
    work = Work("Please run the tests into a file").run("pytest > out.txt", FAILED, 1)
    work.edit("src/job.py", "times = 2", "times = 3").run("pytest > out.txt", "4 passed in 0.1s")
    made = work.drafts()
    assert {path for one in made for path in one.files_modified} == {"out.txt", "src/job.py"}
    assert any("`pytest` passes: 4 passed" in one.facts for one in made)


@pytest.mark.parametrize(
    ("path", "concept"),
    [
        ("src/übung.py", "übung"),
        ("src/u\u0308bung.py", "übung"),
        ("src/retryÜberweisung.py", "überweisung"),
        ("src/оплата.py", "оплата"),
        ("src/支払い.py", "支払い"),
        ("src/HTTPServer.py", "server"),
    ],
)
def test_concepts_are_whole_words_of_any_script(path: str, concept: str) -> None:
    made = Work("Look at the job please").edit(path, "x = 1", "x = 2").draft()
    assert concept in made.concepts
    assert not [one for one in made.concepts if one in concept and one != concept]


@pytest.mark.parametrize(
    "said",
    [
        "The exporter writes CSV.",
        "Port 8000.",
        "Postgres.",
        "付款任务现在会重试三次。",
        "インポーターは空行を読み飛ばすようになりました。",
        "ตัวส่งออกเขียนไฟล์แล้ว",
    ],
)
def test_what_the_agent_said_last_is_kept_however_short(said: str) -> None:
    draft = Work("Which one?").edit("src/a.py", "x = 1", "x = 2").say(said).draft()
    assert said in draft.narrative
    assert Work("Which one?").say(said).draft().narrative == said


@pytest.mark.parametrize(
    "said", ["Done.", "OK!", "All done.", "好的。", "了解しました。", "Fertig."]
)
def test_a_message_that_says_nothing_is_not_kept(said: str) -> None:
    assert not Work("Thanks for that").say(said).drafts()


def test_an_edit_whose_texts_are_not_told_makes_no_claim() -> None:
    work = Work("Change it").edit("src/a.py", "x = 1", "x = 2")
    work.events[-1] = work.events[-1]._replace(tool_input='{"file_path": "src/a.py"}')
    draft = work.draft()
    assert draft.title == "Change src/a.py"
    assert not draft.facts
