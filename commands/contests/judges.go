package contests

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// judges check the forks of a contest, each when its agent has ended, and tell the agent of
// the forks' parent.
type judges struct {
	c       *call.Call
	svc     missions.Service
	caller  missions.Caller
	checker *checker // nil where the contest has no check

	mu       sync.Mutex
	verdicts map[string]verdict // by the fork's id
}

// judge keeps what the check says of a fork as it is now, and returns it in words.
func (j *judges) judge(ctx context.Context, m missions.Mission) (said string) {
	var notes string
	if err := snapshotNow(ctx, j.c, j.svc, j.caller, m); err != nil {
		notes = "; no snapshot could be taken before that: " + missions.AsError(err).Message
	}
	now, err := j.svc.Mission(ctx, missions.MissionRequest{Caller: j.caller, Name: m.ID})
	if err == nil {
		m = now // else the check itself says what is wrong with its workspace
	}
	v := j.checker.judge(ctx, m)
	if ctx.Err() != nil {
		return ""
	}
	if v.err == nil {
		notes += j.tellParent(ctx, m, v)
	}
	v.notes = notes + v.notes
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.verdicts == nil {
		j.verdicts = map[string]verdict{}
	}
	j.verdicts[m.ID] = v
	return v.said + v.notes
}

// of is what the check has said of a fork.
func (j *judges) of(id string) (v verdict, isJudged bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v, isJudged = j.verdicts[id]
	return v, isJudged
}

// tellParent queues what the check says for the agent of the parent, once for each snapshot
// that was checked. It returns why that could not be done.
func (j *judges) tellParent(ctx context.Context, m missions.Mission, v verdict) (note string) {
	text := fmt.Sprintf("%s: the check of its contest is %s", v.check.State, j.checker.command)
	if v.check.State != missions.CheckGood && v.last != "" {
		text += "\nwhich has printed last: " + v.last
	}
	id := missions.NamedID(fmt.Sprint("check ", m.ID, " ", m.Head, " ", j.checker.command, " ", v.check.State))
	_, err := j.svc.Report(ctx, missions.ReportRequest{Caller: j.caller, ID: id, Fork: m.ID, Kind: missions.UpdateChecked, Text: text})
	if err != nil {
		return "; its parent is not told: " + missions.AsError(err).Message
	}
	return ""
}

// sayAfterTable says of a fork what its row in the live table can have said too briefly: what
// failed, what its keeper notes, what the check says that is not good, what could not be done
// beside it, and that the fork goes on.
func (j *judges) sayAfterTable(o forks.Outcome, timeout time.Duration, stopped bool) {
	if o.Ended == forks.EndedGoesOn || !o.IsGood() && !stopped {
		forks.WriteOutcome(j.c.Err, o, timeout)
	}
	for _, note := range o.Notes {
		j.c.Err.Line("%s", print.Clean(o.Mission+": note: "+note))
	}
	if v, isJudged := j.of(o.ID); isJudged && (v.notes != "" || !v.known && v.check.State != missions.CheckGood) {
		j.c.Err.Line("%s", print.Clean(v.line(o.Mission)))
	}
}
