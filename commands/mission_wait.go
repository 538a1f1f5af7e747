package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type missionWaitOptions struct {
	state   string
	any     bool
	timeout time.Duration
}

func missionWaitCommand() *verb {
	var o missionWaitOptions
	return &verb{
		name: "wait", args: "MISSION…", min: 1, max: anyNumber, short: "wait until missions are in one of some states",
		long: "Without --state: until each is idle, waiting for its user, closed, or in an error.\nExit code 15 at the timeout.",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "state", Usage: "`STATE,…`: initializing, running, waiting, idle, error, closed", Destination: &o.state},
			&cli.BoolFlag{Name: "any", Usage: "one of the missions is enough", Destination: &o.any},
			&cli.DurationFlag{Name: "timeout", Usage: "give up after `DURATION`", Destination: &o.timeout},
		},
		run: func(c *call) error { return runMissionWait(c, o) },
	}
}

func runMissionWait(c *call, o missionWaitOptions) error {
	states, err := parseStates(o.state)
	if err != nil {
		return err
	}
	list, err := c.wait(missions.WaitRequest{Missions: c.args, States: states, Any: o.any, Timeout: o.timeout})
	if err != nil {
		return err
	}
	return c.print(listed(list), func(p *printer) {
		for _, m := range list {
			p.line("%s %s", clean(m.Name), p.paint(stateStyle(m.State), string(m.State)))
		}
	})
}

// wait waits, with whoever serves the home meanwhile: that may change, also
// because this process was stopped for a while.
func (c *call) wait(r missions.WaitRequest) ([]missions.Mission, error) {
	c.reach = staying
	began := c.Now()
	for whole := r.Timeout; ; {
		c.holdStops()
		svc, caller, ctx, err := c.asking()
		if err != nil {
			return nil, err
		}
		c.heedStops()
		r.Caller = caller
		asked := c.Now()
		list, err := svc.Wait(ctx, r)
		if err == nil || c.ctx.Err() != nil || missions.AsError(err).Kind != missions.KindNoDaemon || c.Now().Sub(asked) < time.Second {
			return list, err
		}
		if whole > 0 {
			r.Timeout = max(whole-c.Now().Sub(began), time.Nanosecond)
		}
		if err := c.close(); err != nil {
			return nil, err
		}
	}
}

func allStates() []missions.StateName {
	return []missions.StateName{
		missions.StateInitializing, missions.StateRunning, missions.StateWaiting,
		missions.StateIdle, missions.StateError, missions.StateClosed,
	}
}

func parseStates(list string) ([]missions.StateName, error) {
	if list == "" {
		return nil, nil
	}
	var states []missions.StateName
	for name := range strings.SplitSeq(list, ",") {
		s := missions.StateName(strings.TrimSpace(name))
		if !slices.Contains(allStates(), s) {
			var known []string
			for _, k := range allStates() {
				known = append(known, string(k))
			}
			return nil, missions.Errorf(missions.KindUsage, "use "+strings.Join(known, ", "), "no state %s", fmt.Sprintf("%q", name))
		}
		states = append(states, s)
	}
	return states, nil
}
