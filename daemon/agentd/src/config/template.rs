//! The file that `agentd config init` writes.

/// A configuration in which every line is a comment: the defaults, explained.
pub const TEMPLATE: &str = r#"# agentd and its clients. Every key may be left out; the values shown are the defaults.
# A variable overrides a key: AGENTD_PROVIDER_MODEL for provider.model. `agentctl reload` applies changes.

[provider]
# auto: base_url below if set, else OPENAI_API_KEY (with OPENAI_BASE_URL, OPENAI_MODEL), DEEPSEEK_API_KEY,
# ANTHROPIC_API_KEY, OPENROUTER_API_KEY, else a local Ollama or llama.cpp server, else offline.
# Others: openai (any OpenAI-compatible endpoint), openai-responses, deepseek, anthropic, openrouter, ollama, vllm, llamacpp, offline.
#kind = "auto"
#base_url = ""            # such as "http://127.0.0.1:11434/v1"
#model = ""
#cheap_model = ""         # short for roles.cheap.model
#api_key_env = ""         # variable that holds the key; "": the usual one, at its provider's own host
#api_key_file = ""        # file with the key and nothing else, mode 0600
#context_tokens = 0       # 0: what is known of the model, else 32768
#max_output_tokens = 0    # 0: the provider's own limit
#connect_timeout_ms = 10000
#first_byte_timeout_ms = 120000
#idle_timeout_ms = 120000
#max_attempts = 3         # of one request, the first included
#retry_base_ms = 500      # wait before the second attempt; it doubles, with jitter
#retry_max_ms = 30000     # longest wait; a provider that asks for more is not waited for
#max_concurrent_requests = 16   # to one endpoint; the others wait in order
#requests_per_minute = 0  # to one endpoint; 0: no limit
#breaker_failures = 5     # in a row, after which an endpoint is left alone; 0: never
#breaker_pause_ms = 30000
#local_servers = ["127.0.0.1:11434", "127.0.0.1:8080"]

# Who does what. An endpoint is "provider", the section above, or one of your own:
#   [endpoints.home]
#   kind = "ollama"        # the keys are those of [provider]
# A model is written "model" or "endpoint/model". A role without a model has that of the main role.
[roles.main]
#endpoint = "provider"
#model = ""               # empty: the endpoint's own
#max_output_tokens = 0    # 0: the endpoint's setting
#effort = ""              # off, minimal, low, medium, high, max; empty: the model's own default
#fallbacks = []           # asked in order when the model cannot answer: ["gpt-5-mini", "home/qwen3:8b"]

[roles.cheap]             # titles and summaries
#endpoint = "provider"
#model = ""
#max_output_tokens = 0
#effort = ""
#fallbacks = []

[roles.embedding]
#endpoint = "provider"
#model = ""
#max_output_tokens = 0
#effort = ""
#fallbacks = []

[roles.judge]
#endpoint = "provider"
#model = ""
#max_output_tokens = 0
#effort = ""
#fallbacks = []

# What is known of a model that `agentctl models` does not show, or shows wrong:
#   [models."my-model"]
#   context_tokens = 65536
#   prices = { prompt = 0.5, completion = 1.5 }          # US dollars per million tokens
#   vision = true
#   effort_form = "word"                                 # sent as reasoning_effort
#   efforts = { low = "low", high = "high" }

[session]
#auto_resume = "ask"      # a turn that ran when the daemon stopped: ask, always, never
#rounds_limit = 30        # model rounds before you are asked whether to go on
#retries_limit = 3        # calls of a turn that may fail for a passing reason or be badly written, and then
#replans_limit = 5        # how often nothing may come of its calls before the model must answer without tools
#running_turns_limit = 16 # in the whole daemon; the others wait by priority, then by age
#queue_limit = 100
#idle_unload_ms = 600000
#titles = "model"         # or first_message
#slow_turn_ms = 60000     # a turn that takes longer is reported in the log, with where the time went; 0: none

[permission]
#mode = "ask"            # of new sessions that say nothing: plan, ask, auto-edit, full
#approval_timeout_ms = 600000  # a call that nobody has allowed by then is denied
#rules = []              # for all sessions, beside what `agentctl permissions` makes; deny before ask before allow:
#                        # { effect = "deny", about = { kind = "command", argv = ["git", "push"], more = true } }
#                        # kinds: command (more: any words may follow), path (glob, access = "read" or "write"),
#                        # host (host = "*.example.org"), tool (name), mcp_server (server)

[sandbox]
#backend = "auto"        # what programs that agents run are shut in by: bubblewrap, else landlock, else nothing runs;
#                         # or one of these alone, or container; "none" shuts nothing in
#readable_paths = []      # beside the system's, such as toolchains in a home
#path = ""               # PATH of programs; empty: the system's directories
#allow_hosts = []        # hosts that are not public and that programs may be let through to, when a call asks for
#                        # them and is permitted; "host" or "host:port"

[sandbox.container]
#image = ""              # that programs run in, with bash; the engine has it: it is never fetched
#socket = "/var/run/docker.sock"  # of an engine with the Docker API. Whoever may use it is root there

[sandbox.limits]
#timeout_s = 30           # of a call that says nothing
#max_timeout_s = 120      # that a call may ask for
#output_kib = 64          # of one stream of output, half of it from the end
#jobs = 8                # that run_command has started in the background, of a session at the same time
#job_s = 3600            # longest run of one, and of a terminal
#terminals = 2           # of a session, open at the same time
#command_memory_mib = 2048  # of one process; commands build and test
#command_processes = 256  # of all of them together, threads too
#command_cpu_s = 600
#command_file_mib = 1024  # one file
#script_memory_mib = 256  # the same of what computes, such as run_python
#script_processes = 64
#script_cpu_s = 60
#script_file_mib = 64

[submit]
#per_client_per_second = 10  # messages of one client; 0: no limit
#per_client_burst = 20
#in_flight = 256          # messages on their way to their sessions at once
#timeout_ms = 30000
#default_ttl_ms = 3600000 # of messages of low priority that do not say so themselves; 0: they wait for ever

[budget]
# Checked before each request; 0: no limit. Money counts for models with known prices. Days are UTC.
# At 80 % of a limit a notice says so; when it is reached, turns fail with BUDGET_EXCEEDED.
#turn_usd = 0.0
#turn_tokens = 0          # of requests and answers together
#session_usd = 0.0        # over the session's whole life
#session_tokens = 0
#day_usd = 0.0            # of all sessions together
#day_tokens = 0
#background_day_usd = 0.0 # titles and other work that nobody waits for; part of the day
#background_day_tokens = 0

[tools.fetch]
#allow_hosts = []         # that may be asked although they are not public: ["wiki.lan", "127.0.0.1:8080"]

[tools.search]
#engine = "duckduckgo"    # duckduckgo, searxng, brave, tavily
#endpoint = ""            # URL; searxng needs it: "http://127.0.0.1:8888"
#key_env = ""             # variable that holds the key; "": BRAVE_API_KEY or TAVILY_API_KEY

[tools.weather]           # a service with the API of Open-Meteo; "": none
#endpoint = ""            # "https://api.open-meteo.com/v1/forecast"
#geocoding_endpoint = ""  # where places are looked up: "https://geocoding-api.open-meteo.com/v1/search"

[tools.ip_location]
#endpoint = ""            # a service that answers with JSON; {ip} stands for the address: "https://ipwho.is/{ip}"

[memory]
#max_active = 10000       # memories that hold, of all scopes together; more are refused
#max_critical = 15        # of a scope; a further one pushes out the oldest that is not pinned
#merge_similarity = 0.6   # texts that share this much of their words become one memory
#max_changes = 1000       # kept for `agentctl memory why` and `undo`
#keep_history_days = 180  # what holds no longer is kept that long, with its journal; 0: for ever
#quarantine_days = 30     # then what waits to be confirmed ends; 0: never
#sweep_interval_ms = 3600000  # how often memories age and end
#extract_after_ms = 120000  # a session that rests this long is looked through for memories; 0: never
#extract_turns = 2        # turns that there have to be for it
#consolidate_every_ms = 86400000  # how often order is brought into memories while no turn runs; 0: by hand only

[memory.decay]            # days; a use makes a memory more stable, and all of these longer
#critical_days = 30.0     # then it is a high one
#high_days = 60.0
#medium_days = 90.0
#low_days = 180.0         # then it is no longer told; 0: never
#stability_days = 30.0    # after which retention of what was never used is 1/e
#use_gain = 1.0           # what a use adds to stability when nearly all was forgotten; 0: nothing
#max_stability_days = 360.0

[memory.select]           # what is told when a turn begins
#max = 30
#max_critical = 10        # of these, the newest first
#min_high = 3             # of each tier whatever their score
#min_medium = 2
#min_low = 1
#max_bytes = 8192

[memory.embeddings]       # so that memories are found by what they mean, too; off: by their words alone
#provider = "none"        # endpoint: the model of roles.embedding, over OpenAI's API (/embeddings);
#                         # local: a static model on this machine, in builds with the feature local-embeddings
#directory = ""           # of a local model: a whole path, with tokenizer.json and model.safetensors
#dimensions = 0           # of vectors; 0: the model's own
#query_prefix = ""        # some models want one; those of the e5 family "query: " and "passage: "
#document_prefix = ""
#query_timeout_ms = 500   # a turn waits no longer for the vector of what was said, and then goes by words
#merge_similarity = 0.92  # texts of one kind whose vectors have this cosine become one memory

[search]                  # of what was said, by `agentctl search` and history_query
#max_messages = 200000    # the newest of all sessions are searched
#max_text_bytes = 67108864  # of them together; their index takes about three times as much memory
#idle_unload_ms = 3600000 # what nobody has searched for so long leaves memory, and is read anew when it is asked for
[context]                 # ratios are parts of what the window leaves for the conversation
#trim_ratio = 0.8         # above it, parts of older turns are left out
#compact_ratio = 0.92     # above it, older turns are folded into a summary at once
#compact_to_ratio = 0.3   # what is left then
#outputs_keep_turns = 3   # newest turns whose tool outputs stay
#long_text_chars = 4096   # longer texts of older turns lose their middle
#small_window = 16384     # windows up to this tell only so many turns whole:
#compact_above_turns = 10  # older ones are folded above this; 0: never
#keep_turns = 5
#large_window = 1000000   # windows from this on are folded by tokens:
#large_compact_above = 700000
#large_compact_to = 500000
#recall_turns = 50        # folded turns that are told again when they bear on a message
#recall_keep = 20         # those that stay when there are as many
#recall_whole = 0.15      # likeness to be told whole, and in short
#recall_short = 0.05
#summary_chars = 32000
#summary_ratio = 0.125    # most of the window for the summary,
#recall_ratio = 0.0625    # for folded turns that are told again in one turn,
#memories_ratio = 0.125   # for memories that a turn is told,
#project_document_ratio = 0.125  # and for the workspace's document
#summary_timeout_ms = 120000
#rested_after_days = 30   # then a session begins again with its summary and last turn; 0: never
#project_documents = ["AGENTS.md", "AGENT.md", "CLAUDE.md"]  # the first of a workspace is told; []: none
#project_document_bytes = 32768  # more of it loses its middle

[store]
#cache_bytes = 8388608
#fsync = true             # also survive a power cut
#backup_interval_ms = 3600000  # copies of the store into its folder "backups", when something changed; 0: none
#backup_keep = 7

[log]
#level = "info"
#format = "auto"          # auto, human, json, journald; auto: the journal when systemd connects to it

[daemon]
#shutdown_timeout_ms = 10000
#keepalive_ms = 30000     # a client that gives no sign of life for twice this is dropped
#socket_access = "user"   # group: whoever may connect to a socket that systemd made acts as the daemon's user

[metrics]
#listen = ""             # "127.0.0.1:9464": figures for Prometheus at /metrics

[otel]
# Traces of turns, requests and tool calls for a collector of OpenTelemetry; builds with the feature otel export them.
#endpoint = ""           # "http://127.0.0.1:4317": OTLP over gRPC; "": what OTEL_EXPORTER_OTLP_ENDPOINT says
#sample_ratio = 1.0      # which part of the traces, 0 to 1

[remote]
# For clients on other machines: needs a certificate (`agentd tls init`) and a token (`agentctl token create`).
#listen = []              # such as ["0.0.0.0:7443"]
#tls_cert = ""            # PEM file
#tls_key = ""             # PEM file, mode 0600, or "${CREDENTIALS_DIRECTORY}/NAME"
#client_ca = ""           # PEM file; if set, clients need a certificate of this CA too
#insecure_loopback = false # true: a loopback address may do without TLS, for a tunnel or proxy
#idle_timeout_ms = 900000
#keepalive_ms = 30000
#max_connections = 256
#max_connections_per_ip = 32

[client]
#show_reasoning = true
#markdown = "auto"        # auto, always, never
#color = "auto"           # auto, always, never
#history_size = 10000
#edit_mode = "emacs"      # emacs, vi
#start_daemon = true
#theme = "auto"           # of agent-tui: auto (the terminal's own colours), dark, light, mono (none)
#bell = true              # agent-tui rings when a long turn ends or an answer is wanted and nobody looks
#mouse = true             # agent-tui takes clicks and the wheel; Shift selects text then in most terminals
#sidebar = true           # agent-tui shows the sessions beside the transcript where there is room
# agent-tui: a section [client.keys] with lines such as page_up = ["PageUp", "Ctrl-B"] changes keys;
# its help (F1) shows the actions.
"#;
