package mission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/land"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type missionRmOptions struct{ workspace, preview, force, landed bool }

func missionRmCommand() *call.Verb {
	var o missionRmOptions
	return &call.Verb{
		Prints: []any{missions.RemoveResult{}},
		Name:   "rm", Args: "MISSION…", Min: 1, Max: call.AnyNumber, Instead: "landed", Short: "remove missions, into the trash",
		Long: "Lists first what is only there: ignored files, unmerged commits, anything uncaptured.\nSnapshots that other missions or pins need stay.",
		Flags: []flags.Flag{
			flags.Bool("workspace", "the workspace too, if Umbra made it", &o.workspace),
			flags.Bool("preview", "only list", &o.preview),
			flags.Bool("landed", "those whose work umbra land has put on a branch, all of it", &o.landed),
			flags.Bool("force", "also a mission whose agent is live", &o.force),
		},
		Run: func(c *call.Call) error { return runMissionRm(c, o) },
	}
}

func runMissionRm(c *call.Call, o missionRmOptions) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	request := missions.RemoveRequest{Caller: caller, Workspace: o.workspace, MadeOnly: o.landed, Force: o.force, Preview: true}
	names := c.Arguments
	if o.landed {
		if names, err = landedMissions(ctx, c, svc, caller); err != nil {
			return err
		}
	}
	listed, busy, err := listRemoval(ctx, svc, request, names)
	if err != nil || len(listed.Missions) == 0 {
		return errors.Join(err, busy)
	}
	if o.preview {
		return errors.Join(busy, c.Print(listed, func(p *print.Printer) { WriteRemoval(p, listed, "would be removed") }))
	}
	if err := confirmRemoval(c, listed); err != nil {
		return errors.Join(err, busy)
	}
	return errors.Join(busy, removeListed(ctx, c, svc, request, listed))
}

// landedMissions are the missions all of whose work has landed.
func landedMissions(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller) ([]string, error) {
	if len(c.Arguments) > 0 {
		return nil, missions.Errorf(missions.KindUsage, "choose one", "--landed and names of missions contradict each other")
	}
	names, err := land.Missions(ctx, c, svc, caller)
	if err == nil && len(names) == 0 {
		c.Notice("nothing to remove: no mission without an agent has all its work on a branch (umbra land puts it there)")
	}
	return names, err
}

// removeListed removes the missions that were listed. One whose agent is live by now takes none
// of the others with it.
func removeListed(ctx context.Context, c *call.Call, svc missions.Service, request missions.RemoveRequest, listed missions.RemoveResult) error {
	request.Preview = false
	var done missions.RemoveResult
	var failed error
	for _, m := range listed.Missions {
		request.Missions = []string{m.ID}
		one, err := svc.Remove(ctx, request)
		if err == nil {
			done.Add(one)
			continue
		}
		failed = errors.Join(failed, err)
		if missions.AsError(err).Kind != missions.KindBusy {
			break
		}
	}
	if failed != nil && len(done.Missions) == 0 {
		return failed
	}
	return errors.Join(failed, printRemoval(c, done))
}

// listRemoval lists what would be lost with missions. One whose agent is live takes none
// of the others with it: its error is busy. Any other error is of all of them, such as a
// slip in a name.
func listRemoval(ctx context.Context, svc missions.Service, r missions.RemoveRequest, names []string) (listed missions.RemoveResult, busy, err error) {
	listed.Missions = []missions.Mission{}
	for _, name := range names {
		r.Missions = []string{name}
		one, err := svc.Remove(ctx, r)
		switch {
		case err != nil && missions.AsError(err).Kind == missions.KindBusy && len(names) > 1:
			busy = errors.Join(busy, err)
		case err != nil:
			return listed, nil, err
		case !slices.ContainsFunc(listed.Missions, func(m missions.Mission) bool { return m.ID == one.Missions[0].ID }):
			listed.Add(one)
		}
	}
	return listed, busy, nil
}

func printRemoval(c *call.Call, done missions.RemoveResult) error {
	return c.TellDone(done, func(p *print.Printer) { WriteRemoval(p, done, "removed") })
}

// confirmRemoval asks where somebody can be asked; elsewhere only what would be
// lost needs --yes.
func confirmRemoval(c *call.Call, r missions.RemoveResult) error {
	lost := len(r.IgnoredFiles)+len(r.UnmergedCommits)+len(r.Uncaptured)+len(r.OtherMissions) > 0
	if c.Yes || !lost && !c.CanAsk() {
		return nil
	}
	WriteRemoval(c.Err, r, "would be removed")
	_ = c.Err.Flush()
	if !c.CanAsk() {
		return missions.Errorf(missions.KindConflict, "--yes removes it all the same", "something is only there: nothing was removed")
	}
	yes, err := c.Confirm("Remove?")
	if err == nil && !yes {
		err = missions.Errorf(missions.KindConflict, "", "nothing was removed")
	}
	return err
}

// WriteRemoval prints what went with missions, or would go, and what of it is only there.
func WriteRemoval(p *print.Printer, r missions.RemoveResult, what string) {
	for _, m := range r.Missions {
		p.Line("%s %s", p.Paint(print.Bold, print.Clean(m.Name)), what)
	}
	listed := func(title string, list []string) {
		const most = 20
		for i, item := range list {
			if i == 0 {
				p.Line("  %s:", title)
			}
			if i == most {
				p.Line("    … and %d more", len(list)-most)
				return
			}
			p.Line("    %s", print.Clean(item))
		}
	}
	listed(fmt.Sprintf("commits that are nowhere else (%d)", len(r.UnmergedCommits)), r.UnmergedCommits)
	listed(fmt.Sprintf("in no snapshot (%d)", len(r.Uncaptured)), r.Uncaptured)
	listed(fmt.Sprintf("ignored files (%d)", len(r.IgnoredFiles)), r.IgnoredFiles)
	if r.CopiedFiles > 0 {
		p.Line("  %s that its source has too", print.Count(r.CopiedFiles, "ignored file"))
	}
	listed("missions that worked in it too", r.OtherMissions)
	listed("in the trash, from where umbra trash restore takes it back", r.Trash)
	listed("stays", r.Kept)
}

// ForksLeft says what the forks take that are left after a promotion, and how they go.
func ForksLeft(forks []missions.ForkRoom) string {
	names, room := sumUp(forks)
	return fmt.Sprintf("the forks that are left take %s; to remove them: umbra mission rm --workspace %s", print.Size(room), strings.Join(names, " "))
}

// sumUp is the names of forks, and what they take on the disk.
func sumUp(forks []missions.ForkRoom) (names []string, room int64) {
	for _, f := range forks {
		names, room = append(names, f.Name), room+f.Bytes
	}
	return names, room
}

// OfferRemoval offers to remove the forks that are left after a promotion. Where nobody can be
// asked it says what to type; --yes does not answer that.
func OfferRemoval(ctx context.Context, c *call.Call, svc missions.Service, caller missions.Caller, forks []missions.ForkRoom) error {
	request := missions.RemoveRequest{Caller: caller, Workspace: true, Preview: true}
	names, room := sumUp(forks)
	if !c.CanAsk() || c.Yes {
		c.Notice("%s", ForksLeft(forks))
		return nil
	}
	listed, busy, err := listRemoval(ctx, svc, request, names)
	if err != nil || len(listed.Missions) == 0 {
		return errors.Join(err, busy)
	}
	c.EndProgress()
	c.Err.Line("\nthe forks that are left:")
	WriteRemoval(c.Err, listed, "can be removed")
	_ = c.Err.Flush()
	question := fmt.Sprintf("Remove %s, into the trash? umbra trash empty gives back %s then.", strings.Join(names, ", "), print.Size(room))
	if yes, err := c.Confirm(question); !yes || err != nil {
		return errors.Join(err, busy)
	}
	return errors.Join(busy, removeListed(ctx, c, svc, request, listed))
}
