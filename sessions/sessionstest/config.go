package sessionstest

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// secretive are settings, by the end of their file's name, with a secret in each place that agents have for them.
var secretive = map[string]string{
	".toml": "env.A='hush 1'\nmcp_servers.s={args=['--key','hush 2'],url='http://hush 3'}\nprovider.p.apiKey='hush 6'\ntheme='dark'\n",
	".json": `{"env":{"A":"hush 1"},"mcpServers":{"s":{"args":["--key","hush 2"],"url":"http://hush 3"}},` +
		`"mcp":{"s":{"environment":{"B":"hush 4"},"headers":{"X":"hush 5"}}},"provider":{"p":{"options":{"apiKey":"hush 6"}}},"theme":"dark"}`,
}

// checkConfigured: what is kept of the user's configuration holds no session and no
// secret, and a launch that can't have an earlier one says why.
func (s Subject) checkConfigured(r *report) {
	a, ok := as[sessions.Configured](s.Adapter)
	if !ok {
		return
	}
	session, err := filepath.Rel(a.ConfigRoot(s.Env), s.Adapter.Path(s.Env, s.Cwd, s.ID))
	if err != nil {
		r.bad("the directory of the configuration: %v", err)
	}
	for _, name := range a.ConfigPaths() {
		if plain := strings.TrimSuffix(name, "/"); plain != path.Clean(plain) || path.IsAbs(plain) || strings.HasPrefix(plain, "..") {
			r.bad("%s is not a place in the configuration", name)
		}
		if strings.HasSuffix(name, "/") && strings.HasPrefix(filepath.ToSlash(session), name) {
			r.bad("sessions are in %s of the configuration", name)
		}
		settings, ok := secretive[path.Ext(name)]
		if !ok {
			continue
		}
		if kept, err := a.CleanConfig(name, []byte(settings)); err == nil && bytes.Contains(kept, []byte("hush")) {
			r.bad("%s is kept with secrets: %s", name, kept)
		}
	}
	if len(a.ConfigPaths()) == 0 {
		r.bad("nothing is kept of the configuration")
	}
	cmd := s.launch(r, sessions.Launch{SessionID: s.ID, Resume: true, Config: &sessions.Config{Changed: []string{"x"}}})
	if cmd.Configured == (cmd.Unconfigured != "") {
		r.bad("a launch with an earlier configuration: has it %t, and why not: %q", cmd.Configured, cmd.Unconfigured)
	}
}
