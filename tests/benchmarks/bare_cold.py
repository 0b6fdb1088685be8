"""Search once with the libraries alone and print: what a cold `recall` is compared with.

python -P bare_cold.py INDEX QUESTION lexical|hybrid
"""

import sys

import tantivy
from tantivy import Filter, Occur, Query, TextAnalyzerBuilder, Tokenizer

index, question, mode = sys.argv[1:]
bank = tantivy.Index.open(index)
searcher = bank.searcher()
stems = (
    TextAnalyzerBuilder(Tokenizer.simple())
    .filter(Filter.lowercase())
    .filter(Filter.stemmer("english"))
    .build()
    .analyze(question)
)
words = [Query.term_query(bank.schema, "body", stem) for stem in stems]
query = Query.boolean_query([(Occur.Should, word) for word in words])
for _, place in searcher.search(query, 10).hits:
    print(searcher.doc(place)["key"][0])
if mode == "hybrid":
    sys.path.append(sys.argv[0].rpartition("/tests/")[0])
    from usearch.index import Index as Graph

    from tests.benchmarks.bare_static import BareStatic

    graph = Graph.restore(f"{index}/graph.usearch", view=True)
    for number in graph.search(BareStatic().embed([question])[0], 10).keys:
        print(number)
