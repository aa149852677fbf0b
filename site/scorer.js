// What a search shows first: a lesson, then what else a reader may look up, then the pages of the library. Who asks for
// a name of the library, such as AlbertConfig or layer_plan, gets its page first.
const asked = new URLSearchParams(window.location.search).get("q") || "";
const isName = /[a-z][A-Z]|[_.]/.test(asked.trim());

var Scorer = {
  score: ([docname, title, anchor, description, score]) => {
    const isLesson = /^notebooks\/(optional\/)?\d/.test(docname);
    const isLibrary = docname.startsWith("site/library");
    if (isName) return isLibrary ? score + 100 : score;
    return isLesson ? score + 100 : isLibrary ? score - 100 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
