//! The longer texts of `--help`. Knows nothing; `args` shows them.

pub(super) mod client;

pub(super) const INTRO: &str = "\
An agent server that every client can dock to: gRPC, gRPC-Web, A2A and JSON/SSE on one port.

Started without options it listens on loopback, works in the current directory and asks
callers for the local token, which `agena token` prints.";

pub(super) const TOKEN: &str = "\
Examples:
  agena token
      Print the token.
  curl -H \"Authorization: Bearer $(agena token)\" http://127.0.0.1:41242/extendedAgentCard
      Call the server with it.";

pub(super) const TRUST: &str = "\
The list is kept in the data directory and read when the server starts. Neither a workspace nor a
client can change it. Without trust such files are not read at all.

Examples:
  agena trust ~/project
      Believe the memory files of a directory and of all that lies below it, and start the MCP
      servers that its .agena/mcp.json and .gemini/settings.json name.
  agena trust --list
      Print what is trusted, one path per line.
  agena trust --remove ~/project
      Take it back.";

pub(super) const MORE: &str = "\
Examples:
  agena
      Serve the current directory on 127.0.0.1:41242.
  agena --workspace ~/project --listen 127.0.0.1:8080
      Serve another directory on another port.
  agena --approval-mode auto_edit
      Change plain files of the workspace without asking; ask for everything else.
  agena --auth none
      Ask callers for nothing; only on loopback.
  agena --listen 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
      Serve the network, over TLS.
  GEMINI_API_KEY=... agena
      Ask Gemini; without a key the server rehearses.
  agena --rehearsal script.yaml
      Follow a script instead of a model, for tests and for writing clients.
  agena --set server.drain_seconds=5 --set 'server.allowed_origins=[\"http://localhost:5173\"]'
      Set keys that have no option of their own.

Options win over the environment, the environment over the file, the file over the defaults.

Keys of the file, in TOML, with their defaults:
  data_dir                 the platform's data directory
  workspace                the current directory
  server.listen            \"127.0.0.1:41242\"
  server.public_url        the bound address; an http(s) URL
  server.allowed_hosts     []; names besides loopback that a request may be addressed to
  server.allowed_origins   []; web origins whose pages may call, like \"https://app.example\"
  server.max_connections   10000
  server.drain_seconds     30; how long calls may finish after a stop was asked for
  server.reflection        true; whether gRPC clients may ask for the schema
  server.console           true; whether there is a web console at /
  limits.body_bytes        4194304
  limits.message_bytes     4194304
  limits.header_bytes      65536
  tls.cert, tls.key        none; PEM files, both or neither
  auth.mode                \"token\", or \"none\" on loopback
  auth.keys                []; each with name, and either key or key_file; and for the facades
                           models ([\"gemini-*\"]; [] for all), requests_per_minute and
                           tokens_per_minute
  log.format               \"text\", or \"json\"
  log.filter               \"info\"; environment: RUST_LOG, or DEBUG=1 for info,agena=debug
  store.durability         \"process\", or \"power\": what an acknowledged event survives
  store.retention_days     30; how long ended tasks are kept, 0 for ever
  agent.root               the workspace; every workspace that a client names lies under it
  agent.approval_mode      \"default\", or \"auto_edit\", \"yolo\", \"plan\"
  agent.allow_yolo         false; whether clients may ask for yolo; yolo as approval_mode implies it
  agent.sandbox            \"auto\", or \"on\", \"off\"; \"on\" does not start where the kernel cannot
  agent.writable           []; what confined commands may change besides workspace and /tmp
  agent.trusted            []; directories whose memory files are believed, besides `agena trust`
  agent.rules              []; each with tool, decision (allow, ask, deny), and command or path;
                           also reason, and the examples matches and not_matches
  agent.max_answers        100; answers of the model in one turn
  agent.context_tokens     1048576; a conversation is made shorter at half of it
  agent.shell_silence_seconds, agent.shell_wall_seconds
                           300, 3600; how long a command may print nothing, and take; 0 for ever
  a2a.streaming, a2a.push_notifications, a2a.extended_card
                           true; what the card offers
  a2a.repeat_seconds       300; a send that comes again within it is the same send
  a2a.extensions           []; announced in the card, each with uri, description, required
  a2a.tenants              []; names that requests may give, each with tasks of its own
  a2a.development_tool_required
                           false; whether clients must name the development-tool extension
  push.allow_hosts         []; hosts inside that webhooks may name
  facade.strict            false; whether a request that cannot be passed on as it is is refused
  facade.body_bytes        33554432
  facade.fetch_media       true; whether pictures and documents are fetched that requests only name
  facade.media_hosts       []; hosts inside that these may come from
  facade.unknown_models    \"default\": a name nobody knows stands for model.name; or \"refuse\"
  facade.keep_days         30; how long thought signatures and stored responses are kept
  mcp.servers              {}; tables named like the server, each with command (and args, env, cwd)
                           or url (and headers, bearer_token or bearer_token_file), and
                           timeout_seconds, connect_seconds, trust, include_tools, exclude_tools, confined
  mcp.from_workspaces      true; whether files of trusted workspaces may name MCP servers
  mcp.from_clients         false; whether clients may, the user being asked before one is used
  mcp.allow_hosts          []; hosts inside that workspaces and clients may name
  model.name               \"gemini-3.8-flash\" with a key of Google's, else \"rehearsal\"
  model.backends           []; each with name and kind (gemini, vertex, code_assist, openai,
                           rehearsal), and what its kind needs; the first serves all names
                           gemini: key_file, key_env or key; base_url, api_version, key_header
                           vertex: project, location, credentials; or a key as above; base_url
                           code_assist: credentials, project, client_id, client_secret(_file)
                           openai: base_url; key_file, key_env or key; headers
                           allow_plain_http: false; whether a key may go unencrypted to far hosts
  model.routes             []; each with model (\"gpt-*\") and backend, to, or arms, each with
                           name, weight, backend, to; and fallback, each with backend, to
  model.fallback           []; models that are asked when the asked one cannot answer
  model.patience_seconds   600; how long a model that is down or overloaded is asked again
  model.connect_seconds, model.first_byte_seconds, model.idle_seconds, model.total_seconds
                           10, 120, 120, 1800; how long each part of an answer may take
  model.proxy              what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; a URL, or \"none\"
  model.rehearsal          none; a script in YAML
  model.record             none; a directory for scripts of sessions
A relative path in the file is relative to the file.

Variables of Google's own tools make a backend each, behind those of the file:
  GEMINI_API_KEY, or GOOGLE_API_KEY
                           the Gemini API; also GOOGLE_GENAI_API_VERSION, and
                           GEMINI_API_KEY_AUTH_MECHANISM (x-goog-api-key or bearer)
  GOOGLE_GEMINI_BASE_URL   a gateway that speaks it, with or without a key
  GOOGLE_GENAI_USE_VERTEXAI=true
                           Vertex AI; GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION,
                           GOOGLE_VERTEX_BASE_URL; GOOGLE_API_KEY for express mode, else
                           GOOGLE_APPLICATION_CREDENTIALS
  USE_CCPA=1               Code Assist; CODE_ASSIST_ENDPOINT, CODE_ASSIST_API_VERSION,
                           GOOGLE_CLOUD_PROJECT, GOOGLE_APPLICATION_CREDENTIALS";
