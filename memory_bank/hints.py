"""What to do next after an error: a code for each step that front-ends word in their own terms."""

from __future__ import annotations

from enum import StrEnum


class Hint(StrEnum):
    """A step after an error; its value is for callers of the Python API.

    Names in braces are arguments of the error.
    """

    TRY_AGAIN = "try again"
    MAKE_BANK = "make a bank in your project"
    MAKE_FOLDER = "make it, or make a bank in your project"
    MAKE_OR_NAME_BANK = "make a bank in your project, or name one"
    NAME_BANK = "name the bank"
    NAME_THAT_BANK = "if you mean that bank, name it: {bank}, or MEMORY_BANK"
    LIST_RULES = "list the rules"
    LIST_BANKS = "list the banks that have a name"
    LIST_NOTES = "list the notes to see their names"
    SEARCH_IDS = "search for its id; ids are texts like obs-3f2a9c1b7d04"
    LIST_GHOSTS = "list the ghosts to see their names"
    LIST_TRASH = "list the deleted notes"
    CHECK_BANK = "check the bank"
    READ_AGAIN = "read the note again"
    READ_AND_REPEAT = "read it again, then repeat the change on what it says now"
    LOOK_AND_REPEAT = "look at the notes and try again"
    CHOOSE_ANOTHER_NAME = "choose another name, or update that note"
    CHOOSE_FREE_NAME = "choose another name"
    DELETE_INSTEAD = "to remove a note, delete it"
    CHANGE_INCLUDED = (
        "change the file itself in an editor, or write a note that links to it; to allow changes,"
        ' add to your own settings: [memory] writable_includes = ["{file}"]'
    )
    PROMOTE = "promote an observation of it to make a tracked note"
    KEEP_IN_BANK = (
        'leave it where it is; notes of sessions are in the bank with [sessions] keep = "project"'
    )
    MOVE_INCLUDED = "move or remove the file itself, with git or by hand"
    GIVE_TEXT = "give the text to remember"
    GIVE_TEXT_TO_APPEND = "give the text to append"
    GIVE_MERGED_TEXT = "give the text that the notes become"
    GIVE_OLD_OR_SECTION = "give either old or section"
    GIVE_HEADING_PATH = "give its path: A > B"
    GIVE_MORE_CONTEXT = "give more of the text around it, or the number expected"
    GIVE_NAME = "give the note a name of its own"
    WRITE_ENTITY = 'write KIND:ID, for example person:sarah, or {{"kind": "person", "id": "sarah"}}'
    GIVE_TAG_LETTER = "give it at least one letter or digit"
    NAME_BELOW_BANK = "name the note by its path below the bank"
    USE_NAME_CHARACTERS = "use letters, digits, '-', '_', '.' and '/'"
    WRITE_TIME = "use 7d, last week, monday, october, Q3, or a date like 2026-05-08"
    RESOLVE_CONFLICT = (
        "resolve it whole in one edit: keep what holds, remove the lines of <<<<<<<, ======= and"
        " >>>>>>>; indent them where a note only shows a conflict"
    )
    WRITE_ELSEWHERE = (
        "write where it is kept instead; a person who wants it there may allow it,"
        " or add to the settings: [secrets] allow = [{hashes}]"
    )
    LIST_EMBEDDERS = "list the embedders"
    INSTALL_MINILM = "install the embedder minilm"
    TEST_EMBEDDER = "test the embedder"
    TEST_SERVER = "is the server running? a test of the embedder asks it again"
    LIST_IMPORTERS = "list what can be imported"
    NAME_ANOTHER_FILE = "name another file of a token"
    USE_USER_SCOPE = "use the user's own configuration"
    REMOVE_LINK_OR_USE_USER_SCOPE = "remove the link, or use the user's own configuration"
    NAME_SERVER = "give this one a name of its own, for example {name}-2"
    REMOVE_BY_HAND = "remove it by hand, or name another one"
    EDIT_BY_HAND = "repair it, or make the change yourself"
    EDIT_HOOKS_BY_HAND = "repair it, or add the hooks yourself"
    SET_SHARED_URL = "name one in MEMORY_BANK_SHARED_URL, or in your own settings: [shared] url"
    MAKE_SHARED = "its operator makes the tables"
    MIGRATE_SHARED = "its operator brings the tables up to date"
    ASK_OPERATOR = "its operator lets a role publish a repository"
    FORCE_PUBLISH = "fetch it and publish a commit that follows it, or replace it by force"
