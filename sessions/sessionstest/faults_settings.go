package sessionstest

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

func settingsFaults() []fault {
	install := func(how func(whole, []byte, string) ([]byte, error)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter { return installs{w, how} }
	}
	return []fault{
		{"install into", Subject.checkSettings, install(func(whole, []byte, string) ([]byte, error) { return nil, errors.New("no") })},
		{"installed into", Subject.checkSettings, install(func(w whole, in []byte, _ string) ([]byte, error) { return in, nil })},
		{"installed twice", Subject.checkSettings, install(func(w whole, in []byte, command string) ([]byte, error) {
			out, err := w.InstallHooks(in, command)
			return append(out, '\n'), err
		})},
		{"what is no settings file", Subject.checkSettings, install(func(w whole, in []byte, command string) ([]byte, error) {
			out, err := w.InstallHooks(in, command)
			if err != nil {
				return in, nil
			}
			return out, nil
		})},
		{"came back as", Subject.checkSettings, func(w whole, _ Subject) sessions.Adapter { return keepsFile{w} }},
		{"hooks [", Subject.checkSettings, func(w whole, s Subject) sessions.Adapter { return seesHooks{w, s.HookCommand} }},
	}
}

type (
	installs struct {
		whole
		how func(whole, []byte, string) ([]byte, error)
	}
	keepsFile struct{ whole }
	seesHooks struct {
		whole
		command string
	}
)

func (a installs) InstallHooks(settings []byte, command string) ([]byte, error) {
	return a.how(a.whole, slices.Clone(settings), command)
}

func (a keepsFile) UninstallHooks(settings []byte) ([]byte, bool, error) {
	out, _, err := a.whole.UninstallHooks(settings)
	return append(out, ' '), false, err
}

func (a seesHooks) HookCommands([]byte) (commands, missing []string, err error) {
	return []string{a.command}, nil, nil
}

func configFaults() []fault {
	configured := func(how func(*misconfigured)) func(whole, Subject) sessions.Adapter {
		return func(w whole, s Subject) sessions.Adapter {
			c, ok := as[sessions.Configured](w)
			if !ok {
				return nil
			}
			a := &misconfigured{whole: w, Configured: c, root: c.ConfigRoot(s.Env), paths: c.ConfigPaths(), clean: c.CleanConfig}
			session, err := filepath.Rel(a.root, w.Path(s.Env, s.Cwd, s.ID))
			if err == nil {
				a.session, _, _ = strings.Cut(filepath.ToSlash(session), "/")
			}
			how(a)
			return a
		}
	}
	return []fault{
		{"the directory of the configuration", Subject.checkConfigured, configured(func(a *misconfigured) { a.root = "here" })},
		{"is not a place in the configuration", Subject.checkConfigured, configured(func(a *misconfigured) { a.paths = []string{"../x"} })},
		{"of the configuration", Subject.checkConfigured, configured(func(a *misconfigured) { a.paths = []string{a.session + "/"} })},
		{"is kept with secrets", Subject.checkConfigured, configured(func(a *misconfigured) {
			a.clean = func(_ string, content []byte) ([]byte, error) { return content, nil }
		})},
		{"nothing is kept of the configuration", Subject.checkConfigured, configured(func(a *misconfigured) { a.paths = nil })},
		{"a launch with an earlier configuration", Subject.checkConfigured, configured(func(a *misconfigured) { a.silent = true })},
	}
}

// misconfigured is an adapter with other answers of its configuration.
type misconfigured struct {
	whole
	sessions.Configured
	root    string
	paths   []string
	clean   func(string, []byte) ([]byte, error)
	silent  bool
	session string // the directory of the root that sessions are in
}

func (a *misconfigured) ConfigRoot(sessions.Environ) string { return a.root }

func (a *misconfigured) ConfigPaths() []string { return a.paths }

func (a *misconfigured) CleanConfig(name string, content []byte) ([]byte, error) {
	return a.clean(name, content)
}

func (a *misconfigured) Launch(o sessions.Launch) (sessions.Command, error) {
	cmd, err := a.whole.Launch(o)
	if a.silent {
		cmd.Configured, cmd.Unconfigured = false, ""
	}
	return cmd, err
}
