package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Forget lists the snapshots that hold a path. It removes the path from none, since that would
// change their ids. So a path that was found is an error: its hint lists what to do instead,
// and its details are the result.
func (rd *Reader) Forget(ctx context.Context, r missions.ForgetRequest) (missions.Holders, error) {
	found, err := rd.holders(ctx, r)
	if err != nil {
		return found, err
	}
	if found.Snapshots == 0 {
		return found, missions.Errorf(missions.KindNotFound, "umbra log --path "+home.ShellQuote(r.Path)+" finds a file by the names that it had",
			"no snapshot of %s holds %s", found.Project, found.Path)
	}
	config, err := rd.CallerConfig(r.Caller)
	if err != nil {
		return found, err
	}
	steps := forgettingSteps(found, config.Capture.Secrets, rd.Home.Path("statcache"))
	if rd.DailyImport() != nil {
		steps = slices.Insert(steps, 1,
			"sessions that are still in their agents' own stores are imported again daily; to end that first:", "umbra config set import.daily false")
	}
	refused := missions.Errorf(missions.KindConflict, strings.Join(steps, "\n"),
		"%s can't be taken out of the snapshots that hold it (%s): their ids, and those of all that come after them, would change, "+
			"and pins, restores, forks and conversations go by them",
		found.Path, describeHolders(found.Missions))
	if refused.Details, err = json.Marshal(found); err != nil {
		return found, fmt.Errorf("details of %s: %w", found.Path, err)
	}
	return found, refused
}

// describeHolders names the missions, and of each the snapshots.
func describeHolders(list []missions.Holder) string {
	var texts []string
	for _, h := range list {
		name := h.Name
		switch {
		case name == "":
			name = "a mission that is gone"
		case h.Removed:
			name += ", in the trash"
		}
		place := fmt.Sprintf("%.10s", h.Oldest)
		if h.Oldest != h.Newest {
			place += fmt.Sprintf(" to %.10s", h.Newest)
		}
		texts = append(texts, fmt.Sprintf("%d of %s: %s", h.Snapshots, name, place))
	}
	return strings.Join(texts, "; ")
}

// forgettingSteps are what the user is to do about a secret, in order. secrets are the
// configured patterns. caches is the directory of the stat caches: as long as they are there,
// files that snapshots held stay captured, whatever a new rule says.
func forgettingSteps(found missions.Holders, secrets []string, caches string) []string {
	steps := []string{"have the secret replaced where it was issued: whoever read a snapshot, the conversation or a backup may have it"}
	if found.Captured {
		steps = append(steps, keepingOut(found.CapturedPaths, secrets)...)
	}
	if found.Repository != "" {
		steps = append(steps, "your own repository "+found.Repository+" has it too: Umbra changes nothing there. What it tracks is captured whatever the pattern:",
			"git rm --cached "+home.ShellQuote(found.Path))
	}
	for _, to := range found.Pushed {
		steps = append(steps, forgettingElsewhere(to)...)
	}
	var live []string
	for _, h := range found.Missions {
		if h.Live {
			live = append(live, h.Name)
		}
	}
	if len(live) > 0 {
		steps = append(steps, "end what works there:", "umbra mission stop "+strings.Join(live, " "))
	}
	stay := "; files in workspaces stay:"
	if len(found.Trash) > 0 {
		stay = "; files in workspaces stay, but for those in the trash:"
	}
	steps = append(steps, "to have its bytes gone, remove all snapshots of "+found.Project+", which can't be brought back"+stay)
	if len(found.Trash) > 0 {
		steps = append(steps, "umbra trash empty "+home.ShellCommand(found.Trash))
	}
	return append(steps, "umbra daemon stop && rm -r "+home.ShellQuote(found.Dir)+" "+home.ShellQuote(caches),
		"umbra doctor says then that they are gone, and how to say that you know; after that, what the journal has of them goes with:", "umbra doctor --fix")
}

// forgettingElsewhere is what is to be done about a remote. Fetched missions can only be
// forgotten as a whole: their ids belong to another home, so nothing in them can be changed.
func forgettingElsewhere(to missions.PushedTo) (steps []string) {
	if to.File != "" {
		steps = append(steps, "the file "+to.File+" has it, and so has whoever has a copy: remove it")
	} else {
		steps = append(steps, "the remote "+to.Remote+" has it, and so may whoever has fetched: "+
			"have these refs deleted there, and those of forks that you do not have: "+
			strings.Join(to.Refs, " "))
	}
	if to.Fetched {
		steps = append(steps, "forget what was fetched from "+to.Remote+", which is another home's; forks of it stay:", "umbra remote rm "+to.Remote)
	}
	return steps
}

// keepingOut are the commands that keep paths out of later snapshots. capture.secrets matches
// files only: a directory, whose path ends in a slash, gets a line in .umbraignore.
func keepingOut(paths, secrets []string) (steps []string) {
	files, rules := slices.Clone(secrets), []string{}
	for _, path := range paths {
		pattern := "/" + literalPattern.Replace(path)
		switch {
		case strings.HasSuffix(path, "/"):
			rules = append(rules, pattern)
		case path != "" && !slices.Contains(files, pattern):
			files = append(files, pattern)
		}
	}
	if len(files) > len(secrets) {
		steps = append(steps, "keep it out of snapshots once those that hold it are removed; the file stays where it is:",
			"umbra config set capture.secrets "+home.ShellCommand(files))
	}
	if len(rules) > 0 {
		steps = append(steps, "keep the directory out of snapshots once those that hold it are removed; at the top of the workspace:",
			"printf '%s\\n' "+home.ShellCommand(rules)+" >> .umbraignore")
	}
	return steps
}

// literalPattern escapes the characters that have a meaning in a pattern.
var literalPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
