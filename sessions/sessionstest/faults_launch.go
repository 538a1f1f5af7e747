package sessionstest

import (
	"errors"

	"github.com/umbra-vcs/umbra/sessions"
)

func launchFaults() []fault {
	asked := func(how func(*sessions.Launch)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter {
			return launches{whole: w, ask: how, told: func(*sessions.Command) {}}
		}
	}
	told := func(how func(*sessions.Command)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter {
			return launches{whole: w, ask: func(*sessions.Launch) {}, told: how}
		}
	}
	return []fault{
		{"launch: ", Subject.checkLaunch, func(w whole, _ Subject) sessions.Adapter { return launchesNone{w} }},
		{"changes the command it was given", Subject.checkLaunch, asked(func(o *sessions.Launch) { o.Command[0] += "x" })},
		{"a new session is started by", Subject.checkLaunch, asked(func(o *sessions.Launch) { o.Prompt = "" })},
		{"is resumed by", Subject.checkLaunch, asked(func(o *sessions.Launch) { o.Resume = false })},
		{"a launch without hooks says it has some", Subject.checkLaunch, told(func(c *sessions.Command) { c.Hooked = true })},
		{"and why not", Subject.checkLaunch, told(func(c *sessions.Command) { c.Hooked, c.Why = false, "" })},
		{"another program is launched", Subject.checkLaunch, func(w whole, s Subject) sessions.Adapter {
			return launches{whole: w, ask: func(o *sessions.Launch) { o.Command = s.Command }, told: func(*sessions.Command) {}}
		}},
	}
}

type (
	launchesNone struct{ whole }
	launches     struct {
		whole
		ask  func(*sessions.Launch)
		told func(*sessions.Command)
	}
)

func (launchesNone) Launch(sessions.Launch) (sessions.Command, error) {
	return sessions.Command{}, errors.New("no launch")
}

func (a launches) Launch(o sessions.Launch) (sessions.Command, error) {
	a.ask(&o)
	cmd, err := a.whole.Launch(o)
	a.told(&cmd)
	return cmd, err
}
