//! Models behind the agent, as it meets them.

mod faults_of_scripts;
mod record;
