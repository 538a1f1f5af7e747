package mission

import (
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

type missionWaitOptions struct {
	state   string
	any     bool
	timeout time.Duration
}

func missionWaitCommand() *call.Verb {
	var o missionWaitOptions
	return &call.Verb{
		Name: "wait", Args: "MISSION…", Min: 1, Max: call.AnyNumber, Short: "wait until missions are in one of some states",
		Long: "Without --state: until each is idle, waiting for its user, closed, or in an error.\nExit code 15 at the timeout.",
		Flags: []flags.Flag{
			flags.String("state", "`STATE,…`: initializing, running, waiting, idle, error, closed", &o.state),
			flags.Bool("any", "one of the missions is enough", &o.any),
			flags.Duration("timeout", "give up after `DURATION`", &o.timeout),
		},
		Run: func(c *call.Call) error { return runMissionWait(c, o) },
	}
}

func runMissionWait(c *call.Call, o missionWaitOptions) error {
	states, err := wording.ParseStates(o.state)
	if err != nil {
		return err
	}
	list, err := wait(c, missions.WaitRequest{Missions: c.Arguments, States: states, Any: o.any, Timeout: o.timeout})
	if err != nil {
		return err
	}
	return c.Print(call.Listed(list), func(p *print.Printer) {
		for _, m := range list {
			p.Line("%s %s", print.Clean(m.Name), p.Paint(wording.StateStyle(m.State), m.StateWords()))
		}
	})
}

// wait waits, with whoever serves the home meanwhile: that may change, also
// because this process was stopped for a while.
func wait(c *call.Call, r missions.WaitRequest) ([]missions.Mission, error) {
	c.Reach = call.Staying
	began := c.Now()
	for whole := r.Timeout; ; {
		c.HoldStops()
		svc, caller, ctx, err := c.Asking()
		if err != nil {
			return nil, err
		}
		c.HeedStops()
		r.Caller = caller
		asked := c.Now()
		list, err := svc.Wait(ctx, r)
		if err == nil || c.Context.Err() != nil || missions.AsError(err).Kind != missions.KindNoDaemon || c.Now().Sub(asked) < time.Second {
			return list, err
		}
		if whole > 0 {
			r.Timeout = max(whole-c.Now().Sub(began), time.Nanosecond)
		}
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
}
