//! The APIs of other vendors: what their clients ask and hear.

mod anthropic;
