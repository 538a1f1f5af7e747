package sessionstest

import "github.com/umbra-vcs/umbra/sessions"

func eventFaults() []fault {
	heard := func(how func(*sessions.Event, *error)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter { return mishears{w, how} }
	}
	return []fault{
		{"the payload of", Subject.checkEvents, heard(func(e *sessions.Event, _ *error) { e.Cwd = "" })},
		{"lacks what it is about", Subject.checkEvents, heard(func(e *sessions.Event, _ *error) { e.Prompt, e.Tool.Name = "", "" })},
		{"half a payload", Subject.checkEvents, heard(func(_ *sessions.Event, err *error) { *err = nil })},
		{`the payload "`, Subject.checkEvents, heard(func(_ *sessions.Event, err *error) { *err = nil })},
		{"with nothing to say", Subject.checkReply, func(w whole, _ Subject) sessions.Adapter { return talksAlways{w} }},
		{"the hook of a prompt prints", Subject.checkReply, func(w whole, _ Subject) sessions.Adapter { return talksNever{w} }},
	}
}

type (
	mishears struct {
		whole
		how func(*sessions.Event, *error)
	}
	talksAlways struct{ whole }
	talksNever  struct{ whole }
)

func (a mishears) Event(env sessions.Environ, name string, payload []byte) (sessions.Event, error) {
	e, err := a.whole.Event(env, name, payload)
	a.how(&e, &err)
	return e, err
}

func (talksAlways) Reply(sessions.Event, sessions.Answer) []byte { return []byte("{}") }

func (talksNever) Reply(sessions.Event, sessions.Answer) []byte { return nil }
