//! What of changed settings a running server cannot take over. Pure; the server asks when it was told to read its
//! settings again.

use super::settings::{AuthMode, NamedKey, Settings};

impl Settings {
    /// The tables and keys besides `model` that differ in `new`, by their names in the file. A file of a model's keys
    /// that was not named before counts, because commands are kept from those that were known at the start.
    pub fn needs_restart(&self, new: &Self) -> Vec<&'static str> {
        // Taken apart, so that a new field cannot be forgotten here.
        let Self {
            listen,
            public_url,
            allowed_hosts,
            allowed_origins,
            max_connections,
            drain,
            reflection,
            console,
            limits,
            tls,
            auth,
            log,
            store,
            agent,
            a2a,
            push_hosts,
            facade,
            model: _,
            mcp,
            data_dir,
            own_files,
            workspace,
        } = self;
        let server = *listen == new.listen
            && *public_url == new.public_url
            && *allowed_hosts == new.allowed_hosts
            && *allowed_origins == new.allowed_origins
            && (*max_connections, *drain) == (new.max_connections, new.drain)
            && (*reflection, *console) == (new.reflection, new.console);
        let (same_tls, same_auth) = (*tls == new.tls, auth.is(&new.auth));
        let new_file = new.own_files.iter().any(|file| !own_files.contains(file));
        let same = [
            ("data_dir", *data_dir == new.data_dir),
            ("workspace", *workspace == new.workspace),
            ("server", server),
            ("limits", *limits == new.limits),
            ("tls", same_tls),
            ("auth", same_auth),
            ("log", *log == new.log),
            ("store", *store == new.store),
            ("agent", *agent == new.agent),
            ("a2a", *a2a == new.a2a),
            ("push", *push_hosts == new.push_hosts),
            ("facade", *facade == new.facade),
            ("mcp", mcp.is(&new.mcp)),
            ("model.backends (a new file of keys)", !(same_tls && same_auth && new_file)),
        ];
        same.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

impl AuthMode {
    fn is(&self, other: &Self) -> bool {
        let same = |(a, b): (&NamedKey, &NamedKey)| {
            a.name == b.name && a.key.is(&b.key) && a.allowance == b.allowance
        };
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Token { keys }, Self::Token { keys: others }) => {
                keys.len() == others.len() && keys.iter().zip(others).all(same)
            }
            (Self::None, Self::Token { .. }) | (Self::Token { .. }, Self::None) => false,
        }
    }
}
