"""Keep entries out of the browser's history that no user made."""

import streamlit as st

#: parameter of Local's address that says that another page led there
STOPOVER = "opened"

#: On the way to a page `st.switch_page` first gives that page's parameters to the one that is left,
#: as an entry of the history that shows nobody's choices. Streamlit knows the parameters by itself
#: when the page comes, so it is left out: an address that is not that page's, with parameters that
#: no other page has. Nor is it an entry of its own that the chosen run joins an address.
_SCRIPT = """<script>
if (!window.kgdashLedTo) {
  window.kgdashLedTo = {inspect: ["head", "relation", "tail"], local: ["%s"]};
  const push = window.history.pushState.bind(window.history);
  const withoutRun = (address) => {
    const parts = new URLSearchParams(address.search);
    parts.delete("run");
    parts.sort();
    return `${address.pathname}?${parts}`;
  };
  window.history.pushState = (state, unused, url) => {
    const address = new URL(url ?? "", document.baseURI), here = new URL(document.location);
    const has = (part) => address.searchParams.has(part);
    const isStopover = Object.entries(window.kgdashLedTo).some(
      ([page, parts]) => !address.pathname.endsWith("/" + page) && parts.every(has));
    const runJoins = !here.searchParams.has("run") && withoutRun(here) === withoutRun(address);
    if (runJoins) window.history.replaceState(state, unused, url);
    else if (!isStopover) push(state, unused, url);
  };
}
</script>"""


def leave_no_stopovers() -> None:
    """Have the way to Inspect and Local be one entry of the browser's history."""
    st.html(_SCRIPT % STOPOVER, unsafe_allow_javascript=True)
