package sessions

// Configured is an Adapter that knows which files are its user's configuration
// of the agent, so that Umbra can keep versions of it.
type Configured interface {
	// ConfigRoot is the directory that they are in.
	ConfigRoot(env Environ) string
	// ConfigPaths names them, relative to ConfigRoot: a file, or, with a slash at its
	// end, a directory with all that is below it. Settings, instructions,
	// commands, agents, skills: never credentials, tokens or sessions.
	ConfigPaths() []string
	// CleanConfig is a file as it may be kept: without what may be a secret, such
	// as the values of environment variables. With an error it is not kept at all.
	// Umbra takes out what looks like a secret in any file (package secrets); an
	// adapter need not, but where escapes may hide it.
	CleanConfig(name string, content []byte) ([]byte, error)
}

// Config is an agent's configuration as it was, for a launch that is to have it
// instead of that of now: what ConfigPaths names, cleaned, with placeholders of
// package secrets.
type Config struct {
	Names []string // slash-separated, sorted
	Read  func(name string) ([]byte, error)
	// Executable has those of Names that can be run.
	Executable map[string]bool
	// Changed names what is not the same now: another content or mode, gone, or new. In no
	// order.
	Changed []string
}
