"""Actions of front-ends: functions whose first argument is the bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.lazy import modules_of

if TYPE_CHECKING:
    from memory_bank.actions import (
        access_token as access_token,
    )
    from memory_bank.actions import (
        ask as ask,
    )
    from memory_bank.actions import (
        ask_hits as ask_hits,
    )
    from memory_bank.actions import (
        banks as banks,
    )
    from memory_bank.actions import (
        blast_radius as blast_radius,
    )
    from memory_bank.actions import (
        browse as browse,
    )
    from memory_bank.actions import (
        bulk as bulk,
    )
    from memory_bank.actions import (
        code_view as code_view,
    )
    from memory_bank.actions import (
        confirm as confirm,
    )
    from memory_bank.actions import (
        context as context,
    )
    from memory_bank.actions import (
        coupling as coupling,
    )
    from memory_bank.actions import (
        create as create,
    )
    from memory_bank.actions import (
        doctor as doctor,
    )
    from memory_bank.actions import (
        edit as edit,
    )
    from memory_bank.actions import (
        embedding as embedding,
    )
    from memory_bank.actions import (
        evaluate as evaluate,
    )
    from memory_bank.actions import (
        explain_query as explain_query,
    )
    from memory_bank.actions import (
        explain_symbol as explain_symbol,
    )
    from memory_bank.actions import (
        forget as forget,
    )
    from memory_bank.actions import (
        git_resolve as git_resolve,
    )
    from memory_bank.actions import (
        git_setup as git_setup,
    )
    from memory_bank.actions import (
        graph_picture as graph_picture,
    )
    from memory_bank.actions import (
        imports as imports,
    )
    from memory_bank.actions import (
        lately as lately,
    )
    from memory_bank.actions import (
        lint as lint,
    )
    from memory_bank.actions import (
        lint_fixes as lint_fixes,
    )
    from memory_bank.actions import (
        listing as listing,
    )
    from memory_bank.actions import (
        maintenance as maintenance,
    )
    from memory_bank.actions import (
        move_and_merge as move_and_merge,
    )
    from memory_bank.actions import (
        navigate as navigate,
    )
    from memory_bank.actions import (
        note_graph as note_graph,
    )
    from memory_bank.actions import (
        note_history as note_history,
    )
    from memory_bank.actions import (
        note_standing as note_standing,
    )
    from memory_bank.actions import (
        note_view as note_view,
    )
    from memory_bank.actions import (
        observation_details as observation_details,
    )
    from memory_bank.actions import (
        observations as observations,
    )
    from memory_bank.actions import (
        overview as overview,
    )
    from memory_bank.actions import (
        promote as promote,
    )
    from memory_bank.actions import (
        provenance as provenance,
    )
    from memory_bank.actions import (
        prune as prune,
    )
    from memory_bank.actions import (
        publish as publish,
    )
    from memory_bank.actions import (
        recall as recall,
    )
    from memory_bank.actions import (
        recall_at as recall_at,
    )
    from memory_bank.actions import (
        remember as remember,
    )
    from memory_bank.actions import (
        review as review,
    )
    from memory_bank.actions import (
        review_range as review_range,
    )
    from memory_bank.actions import (
        rewrite as rewrite,
    )
    from memory_bank.actions import (
        session_events as session_events,
    )
    from memory_bank.actions import (
        session_listing as session_listing,
    )
    from memory_bank.actions import (
        session_state as session_state,
    )
    from memory_bank.actions import (
        session_timeline as session_timeline,
    )
    from memory_bank.actions import (
        session_view as session_view,
    )
    from memory_bank.actions import (
        sessions as sessions,
    )
    from memory_bank.actions import (
        settings as settings,
    )
    from memory_bank.actions import (
        setup as setup,
    )
    from memory_bank.actions import (
        shared_index as shared_index,
    )
    from memory_bank.actions import (
        stale as stale,
    )
    from memory_bank.actions import (
        stats as stats,
    )
    from memory_bank.actions import (
        symbols as symbols,
    )
    from memory_bank.actions import (
        tests_for as tests_for,
    )
    from memory_bank.actions import (
        timeline as timeline,
    )
    from memory_bank.actions import (
        transcripts as transcripts,
    )
    from memory_bank.actions import (
        trash as trash,
    )

__getattr__ = modules_of(__name__)
