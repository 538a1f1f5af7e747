// Package watch is the verb that tells what happens in missions, as it happens, to people
// and to programs that show it elsewhere: docs/events.md has what each line says.
package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

// interval is how often it is looked for what is new: what a person takes for at once.
const interval = time.Second

// Command is `umbra watch`.
func Command() *call.Verb {
	var all bool
	return &call.Verb{
		Name: "watch", Args: "[MISSION…]", Max: call.AnyNumber, Short: "tell what happens in missions, as it happens, until Ctrl-C",
		Long: `A line for each snapshot, and for each mission that begins, changes or is removed. It
begins with the missions that there are. With --json each line is one JSON object, for
other programs.`,
		Flags: []flags.Flag{flags.Bool("all", "the missions of every project", &all)},
		Run:   func(c *call.Call) error { return run(c, all) },
	}
}

func run(c *call.Call, all bool) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	w := &watcher{svc: svc, request: missions.MissionsRequest{Caller: caller, All: all}}
	for _, name := range c.Arguments {
		m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: name})
		if err == nil {
			err = m.CheckOwn()
		}
		if err != nil {
			return err
		}
		w.only = append(w.only, m.ID)
	}
	if len(w.only) > 0 {
		w.request.All = true // a mission can be named from anywhere
	}
	for {
		happened, err := w.look(ctx)
		for _, e := range happened {
			if err := e.write(c); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return nil // its user has seen enough
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
}

// Event is one line of `umbra watch --json`.
type Event struct {
	// Kind is "mission" for one that is there, has begun or has changed, "snapshot", or
	// "removed".
	Kind     string            `json:"event"`
	Mission  *missions.Mission `json:"mission,omitempty"`
	Snapshot *missions.Entry   `json:"snapshot,omitempty"`

	words bool // worth a line for people
}

func (e Event) write(c *call.Call) error {
	if c.JSON {
		return c.PrintJSONLine(e)
	}
	if e.words {
		e.print(c.Out)
	}
	return c.Out.Flush()
}

func (e Event) print(p *print.Printer) {
	switch e.Kind {
	case "snapshot":
		s := e.Snapshot
		p.Line("%s  %s  %s", p.Paint(print.Cyan, print.Clean(s.Address)), print.Clean(s.Words()), p.Paint(print.Dim, wording.Changes(*s)))
	case "removed":
		p.Line("%s  removed", print.Clean(e.Mission.Name))
	default:
		m := e.Mission
		p.Line("%s  %s  turn %d", print.Clean(m.Name), p.Paint(wording.StateStyle(m.State), m.StateWords()), m.Turn)
	}
}

// watcher knows what was told.
type watcher struct {
	svc     missions.Service
	request missions.MissionsRequest
	only    []string // ids; none for all
	told    []told   // in the order in which the missions were told of
}

type told struct {
	mission missions.Mission
	text    []byte // of it, to see any change
}

// look lists what has happened since the last look. What it returns beside an error was
// not told before, and is not told again.
func (w *watcher) look(ctx context.Context) (happened []Event, err error) {
	list, err := w.svc.Missions(ctx, w.request)
	if err != nil {
		return nil, err
	}
	if len(w.only) > 0 {
		list = slices.DeleteFunc(list, func(m missions.Mission) bool { return !slices.Contains(w.only, m.ID) })
	}
	for _, m := range list {
		text, err := json.Marshal(m)
		if err != nil {
			return happened, err
		}
		i := slices.IndexFunc(w.told, func(t told) bool { return t.mission.ID == m.ID })
		if i < 0 {
			w.told = append(w.told, told{m, text})
			happened = append(happened, Event{Kind: "mission", Mission: &m, words: true})
			continue
		}
		before := w.told[i].mission
		if bytes.Equal(w.told[i].text, text) {
			continue
		}
		if before.Head != m.Head {
			snapshots, err := w.since(ctx, m, before.Head)
			if err != nil {
				return happened, err
			}
			for _, s := range snapshots {
				happened = append(happened, Event{Kind: "snapshot", Snapshot: &s, words: true})
			}
		}
		w.told[i] = told{m, text}
		happened = append(happened, Event{Kind: "mission", Mission: &m, words: before.State != m.State || before.Turn != m.Turn || before.Name != m.Name})
	}
	w.told = slices.DeleteFunc(w.told, func(t told) bool {
		gone := !slices.ContainsFunc(list, func(m missions.Mission) bool { return m.ID == t.mission.ID })
		if gone {
			happened = append(happened, Event{Kind: "removed", Mission: &t.mission, words: true})
		}
		return gone
	})
	return happened, nil
}

// since lists the snapshots of a mission after one of them, the oldest first.
func (w *watcher) since(ctx context.Context, m missions.Mission, head string) ([]missions.Entry, error) {
	for limit := 16; ; limit *= 4 {
		list, err := w.svc.Log(ctx, missions.LogRequest{Caller: w.request.Caller, Mission: m.ID, Limit: limit, Lines: true})
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(list, func(e missions.Entry) bool { return e.ID == head })
		if at < 0 && len(list) == limit {
			continue
		}
		if at >= 0 {
			list = list[:at]
		}
		// What is newer than the mission was told to be comes with the next look.
		list = list[max(0, slices.IndexFunc(list, func(e missions.Entry) bool { return e.ID == m.Head })):]
		slices.Reverse(list)
		return list, nil
	}
}
