package remotes

import (
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Push is `umbra push`.
func Push() *call.Verb {
	var allow flags.List
	var auto, noAuto bool
	return &call.Verb{
		Name: "push", Args: "[REMOTE] [MISSION…]", Max: call.AnyNumber, Short: "send missions to a remote: snapshots and conversations",
		Long: `Without MISSION, all of this project that were made on this machine. What the remote has
goes forward or stays: nothing is overwritten. Exit code 12 says that not all of it was
taken. Do it again at any time: only what is new is sent.

Before anything leaves, what is new in files, conversations, prompts and commands is looked
through for secrets. If there are any, they are listed, nothing is sent, and the exit code
is 12. --allow RULE:FINGERPRINT says that one is no secret; that is remembered.

With --auto all missions of the project are sent to this remote by themselves from now on:
what is new is looked through and sent once no agent works. What keeps it from leaving is in
umbra status. --no-auto ends that.`,
		Flags: []flags.Flag{
			flags.Strings("allow", "send it although it looks like a secret: `RULE:FINGERPRINT`, as listed (repeatable)", &allow),
			flags.Bool("auto", "from now on send what is new by itself", &auto),
			flags.Bool("no-auto", "send nothing by itself any more, and nothing now", &noAuto),
		},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			request := missions.PushRequest{Caller: caller, Remote: c.Arg(0), Missions: c.Arguments[min(1, len(c.Arguments)):], Allow: allow.Value()}
			switch {
			case auto && noAuto:
				return missions.Errorf(missions.KindUsage, "choose one", "--auto and --no-auto contradict each other")
			case (auto || noAuto) && len(request.Missions) > 0:
				return missions.Errorf(missions.KindUsage, "umbra push --auto "+c.Arg(0), "all missions of the project are pushed by themselves, or none")
			case auto:
				request.Auto = missions.AutomaticOn
			case noAuto:
				request.Auto = missions.AutomaticOff
			}
			r, err := svc.Push(ctx, request)
			if err != nil {
				return err
			}
			if noAuto {
				return c.TellDone(r, func(p *print.Printer) { p.Line("nothing is pushed to %s by itself", print.Clean(r.Remote)) })
			}
			err = report(c, r, "pushed to", "no mission was made here that could be pushed")
			switch {
			case !auto || c.JSON:
			case r.IsWhole():
				c.Notice("from now on, what is new is pushed to %s by itself", r.Remote)
			default:
				c.Notice("pushing to %s by itself is on; what is kept back is looked at again when something is new", r.Remote)
			}
			return err
		},
	}
}

// Fetch is `umbra fetch`.
func Fetch() *call.Verb {
	return &call.Verb{
		Name: "fetch", Args: "[REMOTE]", Max: 1, Short: "bring the missions of a remote, to be read and forked here",
		Long: `They are REMOTE/MISSION here: umbra mission ls lists them, umbra log, show, diff and cat
read them, and umbra fork REMOTE/MISSION goes on with one, with its files and its
conversation. Your own missions are not changed.`,
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			r, err := svc.Fetch(ctx, missions.FetchRequest{Caller: caller, Remote: c.Arg(0)})
			if err != nil {
				return err
			}
			return report(c, r, "fetched from", "the remote has no missions of others")
		},
	}
}

// report prints what became of missions. Its error has the exit code of what was done in
// part.
func report(c *call.Call, r missions.Transfer, done, nothing string) error {
	c.EndProgress()
	err := c.Print(r, func(p *print.Printer) {
		if len(r.Findings) > 0 {
			listFindings(p, r.Findings)
			return
		}
		if len(r.Missions) == 0 {
			p.Line("%s", nothing)
		} else {
			p.Line("%s %s", done, p.Paint(print.Bold, print.Clean(r.Remote)))
		}
		listMissions(p, r.Missions)
		if r.NoSessions && len(r.Missions) > 0 {
			p.Line("  conversations were left out")
		}
		switch {
		case r.KeyMade:
			p.Line("  made a key, %s: without it nobody reads the file", print.Clean(r.KeyFile))
		case r.KeyFile != "":
			p.Line("  encrypted with the key in %s", print.Clean(r.KeyFile))
		}
		for _, left := range r.Left {
			p.Line("left as it is: %s: %s", print.Clean(left.Ref), print.Clean(left.Reason))
		}
	})
	if err == nil && !r.IsWhole() {
		return call.Ended(missions.KindConflict.ExitCode())
	}
	return err
}

// listFindings lists what looks like a secret, and says what to do.
func listFindings(p *print.Printer, list []missions.SecretFinding) {
	p.Line("nothing has left: %s in it", print.Count(len(list), "text")+" that "+lookLike(len(list)))
	for _, f := range list {
		p.Line("  %s  %s in %s, %s", p.Paint(print.Red, f.Rule+":"+f.Fingerprint), print.Clean(f.Redacted), print.Clean(f.Moment), print.Clean(f.Path))
	}
	p.Folded("  one that is no secret: the same command with --allow RULE:FINGERPRINT; " +
		"one that is: umbra forget FILE says how its bytes go, and have it replaced by who issued it")
	if len(list) > 1 {
		p.Line("  if none of them is a secret: the same command with%s", allowing(list))
	}
}

// allowing are the words that allow all findings.
func allowing(list []missions.SecretFinding) string {
	var words strings.Builder
	for _, f := range list {
		words.WriteString(" --allow " + f.Rule + ":" + f.Fingerprint)
	}
	return words.String()
}

func lookLike(n int) string {
	if n == 1 {
		return "looks like a secret is"
	}
	return "look like secrets are"
}

// listMissions lists missions by what became of them, and below the list why some were not
// moved.
func listMissions(p *print.Printer, list []missions.TransferMission) {
	var t print.Table
	for _, m := range list {
		moved := ""
		if m.Objects > 0 {
			moved = print.Count(m.Objects, "object") + ", " + print.Size(m.Bytes)
		}
		t.Row(print.Bold.Cell(print.Clean(m.Mission)), stateStyle(m.State).Cell(said[m.State]), print.Dim.Cell(moved))
	}
	t.Print(p, "  ")
	for _, m := range list {
		if m.Reason != "" {
			p.Folded("  " + print.Clean(m.Mission) + ": " + print.Clean(m.Reason))
		}
	}
}

var said = map[missions.TransferState]string{
	missions.TransferNew: "new", missions.TransferUpdated: "updated", missions.TransferSame: "up to date", missions.TransferDiverged: "diverged",
	missions.TransferRejected: "rejected", missions.TransferAhead: "not all of it was pushed", missions.TransferFetched: "fetched",
}

func stateStyle(s missions.TransferState) print.Style {
	switch s {
	case missions.TransferDiverged, missions.TransferRejected:
		return print.Red
	case missions.TransferAhead:
		return print.Yellow
	case missions.TransferNew, missions.TransferUpdated:
		return print.Green
	}
	return print.Dim
}
