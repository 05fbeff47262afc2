"""Tables in, Plotly figures out; no computation, no Streamlit."""
