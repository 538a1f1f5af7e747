package sessions

// PluginName is what agents call the plugin that brings Umbra's hooks and tools
// (sessions/plugin).
const PluginName = "umbra"

// Plugin is what an agent's settings and command lines say of that plugin.
type Plugin interface {
	// Agent is the name of the Adapter.
	Agent() string
	// Enabled is the plugin as the agent's user names it, if that user's settings switch
	// it on. read reads a settings file of the agent's.
	Enabled(env Environ, read func(string) ([]byte, error)) string
	// Handed reports whether a command line of the agent hands it Umbra's hooks, and its
	// tools, for this launch: what the plugin brings would be there twice. read reads a
	// file.
	Handed(argv []string, read func(string) ([]byte, error)) (hooks, tools bool)
}
