"""The only place that knows Streamlit: state, cached resources, progress, messages."""
