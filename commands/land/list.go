package land

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/commits"
)

// entry is a turn in the list, as --list --json prints it.
type entry struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

func entriesOf(plan missions.LandingPlan) []entry {
	list := []entry{}
	for _, key := range commits.Keys(plan) {
		list = append(list, entry{key, commits.Title(plan, key)})
	}
	return list
}

// The words of the list, as those of git rebase -i.
const (
	wordPick   = "pick"
	wordSquash = "squash"
	wordFixup  = "fixup"
	wordDrop   = "drop"
)

// guide stands below the list.
const guide = `
# Each line is a turn. Lines may be moved, and texts edited:
# pick TURN TEXT    a commit, with this message
# squash TURN TEXT  into the commit above, and its text into that message
# fixup TURN        into the commit above, without its text
# drop TURN         not landed: it stays in the workspace. So is a line that is removed
# Without any line nothing lands.
`

// formatList writes each turn as a commit.
func formatList(plan missions.LandingPlan) string {
	var b strings.Builder
	for _, e := range entriesOf(plan) {
		fmt.Fprintf(&b, "%s %s %s\n", wordPick, e.Key, strings.Join(strings.Fields(e.Title), " "))
	}
	return b.String() + guide
}

// readList reads a list of turns.
func readList(in io.Reader, plan missions.LandingPlan) (groups []commits.Group, err error) {
	known, used := map[string]bool{}, map[string]bool{}
	for _, key := range commits.Keys(plan) {
		known[key] = true
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		wrong := func(format string, args ...any) error {
			return missions.Errorf(missions.KindUsage, "umbra land --list prints a list, and says what may stand in it",
				"line %d of the list: "+format, append([]any{n}, args...)...)
		}
		word, rest, _ := strings.Cut(text, " ")
		key, message, _ := strings.Cut(strings.TrimSpace(rest), " ")
		message = strings.TrimSpace(message)
		switch {
		case !known[key]:
			return nil, wrong("%q is no turn of %s that changed something", key, plan.Mission.Name)
		case used[key]:
			return nil, wrong("turn %s is there twice", key)
		}
		used[key] = true
		last := len(groups) - 1
		switch word {
		case wordPick, "p":
			groups = append(groups, commits.Group{Keys: []string{key}, Message: message})
		case wordSquash, "s", wordFixup, "f":
			if last < 0 {
				return nil, wrong("there is no commit above it to go into")
			}
			groups[last].Keys = append(groups[last].Keys, key)
			if strings.HasPrefix(word, "s") && message != "" {
				groups[last].Message += "\n\n" + message
			}
		case wordDrop, "d":
		default:
			return nil, wrong("%q is none of pick, squash, fixup and drop", word)
		}
	}
	return groups, lines.Err()
}

// editList lets the user edit the list.
func editList(c *call.Call, plan missions.LandingPlan) (groups []commits.Group, err error) {
	file, err := os.CreateTemp("", "umbra-land-*.txt")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(formatList(plan))
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	if err := c.Aside(func() error { return c.Edit(file.Name()) }); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, err
	}
	if groups, err = readList(bytes.NewReader(text), plan); err == nil && len(groups) == 0 {
		err = missions.Errorf(missions.KindConflict, "", "the list is empty: nothing was landed")
	}
	return groups, err
}
