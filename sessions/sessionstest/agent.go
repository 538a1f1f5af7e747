package sessionstest

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

func (s Subject) launch(r *report, o sessions.Launch) sessions.Command {
	o.Command = slices.Clone(s.Command)
	cmd, err := s.Adapter.Launch(o)
	if err != nil {
		r.bad("launch: %v", err)
	}
	if !slices.Equal(o.Command, s.Command) {
		r.bad("a launch changes the command it was given to %q", o.Command)
	}
	return cmd
}

func (s Subject) checkLaunch(r *report) {
	const prompt = "-go on: it's \"there\"\n\n$HOME"
	has := func(cmd sessions.Command, word string) bool {
		if s.Spoken {
			return strings.Contains(strings.Join(cmd.Argv, " "), word)
		}
		return slices.ContainsFunc(cmd.Argv, func(arg string) bool { return strings.Contains(arg, word) })
	}
	fresh := s.launch(r, sessions.Launch{SessionID: s.ID, Prompt: prompt})
	if !has(fresh, prompt) || fresh.SessionID != "" && !has(fresh, fresh.SessionID) {
		r.bad("a new session is started by %q", fresh.Argv)
	}
	resumed := s.launch(r, sessions.Launch{SessionID: s.ID, Resume: true, Prompt: prompt})
	if !has(resumed, s.ID) || resumed.SessionID != s.ID || !has(resumed, prompt) || slices.Equal(resumed.Argv, fresh.Argv) {
		r.bad("session %s is resumed by %q", resumed.SessionID, resumed.Argv)
	}
	if fresh.Hooked || resumed.Hooked {
		r.bad("a launch without hooks says it has some")
	}
	hooked := s.launch(r, sessions.Launch{SessionID: s.ID, Hooks: sessions.LaunchHooks{Command: s.HookCommand}, SettingsDir: "/settings"})
	if hooked.Hooked == (hooked.Why != "") {
		r.bad("hooked %t, and why not: %q", hooked.Hooked, hooked.Why)
	}
	if _, err := s.Adapter.Launch(sessions.Launch{Command: []string{"/bin/some-other-program"}, SessionID: s.ID}); err == nil {
		r.bad("another program is launched")
	}
}

func (s Subject) checkEvents(r *report) {
	a, hooked := as[sessions.Hooked](s.Adapter)
	if !hooked {
		return
	}
	for kind, payload := range s.Payloads {
		e, err := a.Event(s.Env, "", payload)
		if err != nil || e.Kind != kind || e.Name == "" || e.SessionID == "" || e.Cwd == "" {
			r.bad("the payload of %s is %+v, %v", kind, e, err)
		}
		if kind == sessions.KindPrompt && e.Prompt == "" || kind == sessions.KindToolBefore && e.Tool.Name == "" {
			r.bad("the payload of %s lacks what it is about: %+v", kind, e)
		}
		if _, err := a.Event(s.Env, "", payload[:len(payload)/2]); !errors.Is(err, sessions.ErrBadPayload) {
			r.bad("half a payload of %s: %v", kind, err)
		}
	}
	for _, in := range []string{"", "null", "[]", "{}", "not JSON"} {
		if _, err := a.Event(s.Env, "", []byte(in)); !errors.Is(err, sessions.ErrBadPayload) {
			r.bad("the payload %q: %v", in, err)
		}
	}
}

func (s Subject) checkReply(r *report) {
	a, hooked := as[sessions.Hooked](s.Adapter)
	if !hooked {
		return
	}
	for kind, payload := range s.Payloads {
		e, err := a.Event(s.Env, "", payload)
		if err != nil {
			continue // reported by checkEvents
		}
		if out := a.Reply(e, sessions.Answer{}); len(out) > 0 {
			r.bad("with nothing to say, the hook of %s prints %q", kind, out)
		}
		if kind != sessions.KindPrompt {
			continue
		}
		for _, answer := range []sessions.Answer{{Context: "sayThis"}, {Block: "sayThis"}} {
			if out := a.Reply(e, answer); !bytes.Contains(out, []byte("sayThis")) {
				r.bad("the hook of a prompt prints %q for %+v", out, answer)
			}
		}
	}
}

func (s Subject) checkSettings(r *report) {
	a, installs := as[sessions.Installing](s.Adapter)
	if !installs {
		return
	}
	for _, in := range append(slices.Clone(s.Settings), nil) {
		out, err := a.InstallHooks(in, s.HookCommand)
		if err != nil {
			r.bad("install into %q: %v", in, err)
			continue
		}
		commands, missing, err := a.HookCommands(out)
		if err != nil || len(commands) == 0 || len(missing) > 0 || slices.ContainsFunc(commands, func(c string) bool { return c != s.HookCommand }) {
			r.bad("installed into %q: commands %q, missing %q, %v", in, commands, missing, err)
		}
		if again, err := a.InstallHooks(out, s.HookCommand); err != nil || !bytes.Equal(again, out) {
			r.bad("installed twice into %q: %q, %v", in, again, err)
		}
		back, remove, err := a.UninstallHooks(out)
		if err != nil || remove != (in == nil) || in != nil && !bytes.Equal(back, in) {
			r.bad("%q came back as %q, remove %t, %v", in, back, remove, err)
		}
		if commands, _, err := a.HookCommands(in); err != nil || len(commands) > 0 {
			r.bad("hooks %q in %q, %v", commands, in, err)
		}
	}
	if out, err := a.InstallHooks([]byte("not settings"), s.HookCommand); err == nil {
		r.bad("installed into what is no settings file: %q", out)
	}
}
