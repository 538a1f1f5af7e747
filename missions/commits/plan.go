package commits

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// Group is steps that become one commit.
type Group struct {
	Keys    []string
	Message string // "" is made of the steps' titles
}

// Commit is a commit that was made, or would be.
type Commit struct {
	ID      string   `json:"id,omitempty"` // "" of one that was not made
	Subject string   `json:"subject"`
	Message string   `json:"message"`
	Turns   []int    `json:"turns"`
	Files   []Change `json:"files"`
	Hooked  []string `json:"changed_by_hooks,omitempty"` // paths that hooks changed, or added

	keys []string
	tree string
}

// Change is a file that a commit changes.
type Change struct {
	Path    string `json:"path"`
	Added   int    `json:"lines_added"`
	Deleted int    `json:"lines_deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// EachTurn has one commit for each turn, and for each operation.
func EachTurn(plan missions.LandingPlan) (groups []Group) {
	for _, key := range Keys(plan) {
		groups = append(groups, Group{Keys: []string{key}})
	}
	return groups
}

// Whole is one commit for all.
func Whole(plan missions.LandingPlan) []Group { return []Group{{Keys: Keys(plan)}} }

// Keys are the keys of the mission's own steps, oldest first.
func Keys(plan missions.LandingPlan) (keys []string) {
	for _, s := range plan.Steps {
		if s.IsOwn() && !slices.Contains(keys, s.Key) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Title is the title of the steps with a key.
func Title(plan missions.LandingPlan, key string) string {
	for _, s := range plan.Steps {
		if s.Key == key && s.Title != "" {
			return s.Title
		}
	}
	if key == "0" || strings.Contains(key, ".") {
		return "Work of " + plan.Mission.Name
	}
	return "Turn " + key + " of " + plan.Mission.Name
}

// maxSubject is how long the subject of a commit is at most that is made of a prompt.
const maxSubject = 72

// subjectOf makes a subject of a prompt: one line that is not too long.
func subjectOf(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if runes := []rune(title); len(runes) > maxSubject {
		short := string(runes[:maxSubject-1])
		if at := strings.LastIndexByte(short, ' '); at > maxSubject/2 {
			short = short[:at]
		}
		title = strings.TrimRight(short, " ,.;:") + "…"
	}
	return title
}

// message is what a commit says: the group's own text, or a subject of the first prompt
// and the prompts below it; then the trailers.
func (c *Committer) message(g Group, keys []string) (string, error) {
	text := g.Message
	if text == "" {
		text = subjectOf(Title(c.plan, keys[0]))
		if len(keys) > 1 {
			text += "\n"
			for _, key := range keys {
				text += "\n- " + subjectOf(Title(c.plan, key))
			}
		}
	}
	text = strings.TrimSpace(text) + "\n"
	if c.options.NoTrailers {
		return text, nil
	}
	args := []string{"-c", "trailer.ifexists=addIfDifferent", "interpret-trailers", "--no-divider", "--trailer", "Umbra-Mission: " + c.plan.Mission.Name + " " + c.plan.Mission.ID}
	if turns := turnsOf(keys); len(turns) > 0 {
		args = append(args, "--trailer", "Umbra-Turn: "+ranges(turns))
	}
	out, err := c.repo.git(run{args: args, input: strings.NewReader(text)})
	return string(out), err
}

// turnsOf are the turns among keys.
func turnsOf(keys []string) []int {
	turns := []int{}
	for _, key := range keys {
		if n, err := strconv.Atoi(key); err == nil && n > 0 {
			turns = append(turns, n)
		}
	}
	return turns
}

// ranges writes numbers as 1-3, 5.
func ranges(numbers []int) string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ", ")
}

// next makes the next commit's tree, nil where a group brings nothing that the branch does
// not have.
func (c *Committer) next(g Group) (*Commit, error) {
	var keys []string
	changed := map[string]file{}
	for _, key := range g.Keys {
		these, err := c.work.apply([]string{key})
		if err != nil {
			return nil, err
		}
		if len(these) > 0 {
			keys = append(keys, key)
		}
		for path, f := range these {
			changed[path] = f
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	before := c.tree
	tree, err := c.writeTree(changed)
	if err != nil || tree == before {
		return nil, err
	}
	commit := &Commit{Turns: turnsOf(keys), keys: keys, tree: tree}
	if commit.Message, err = c.message(g, keys); err != nil {
		return nil, err
	}
	commit.Subject, _, _ = strings.Cut(commit.Message, "\n")
	if commit.Files, err = c.filesOf(before, tree); err != nil {
		return nil, err
	}
	return commit, c.checkReplaced(commit.Files, changed)
}

// checkReplaced refuses files of the branch that no step has touched, and that would go
// since a directory comes where a file is, or the reverse.
func (c *Committer) checkReplaced(files []Change, changed map[string]file) error {
	var replaced conflicts
	for _, f := range files {
		if _, known := changed[f.Path]; known {
			continue
		}
		c.work.now[f.Path] = file{}
		replaced = append(replaced, strings.TrimPrefix(f.Path, c.repo.prefix))
	}
	if len(replaced) == 0 || c.options.All {
		return nil
	}
	return replaced
}

// writeTree puts paths into the index of the work, and makes a tree of it.
func (c *Committer) writeTree(changed map[string]file) (string, error) {
	var removed, put bytes.Buffer
	for path, f := range changed {
		if f == (file{}) {
			fmt.Fprintf(&removed, "0 %s\t%s\x00", strings.Repeat("0", len(c.tree)), path)
		} else {
			fmt.Fprintf(&put, "%s %s\t%s\x00", f.mode, f.blob, path)
		}
	}
	removed.Write(put.Bytes()) // a directory may be where a file was
	index := []string{"GIT_INDEX_FILE=" + c.index}
	if _, err := c.repo.git(run{args: []string{"update-index", "--add", "--replace", "-z", "--index-info"}, env: index, input: &removed}); err != nil {
		return "", err
	}
	out, err := c.repo.git(run{args: []string{"write-tree"}, env: index})
	if err == nil {
		c.tree = strings.TrimSpace(string(out))
	}
	return c.tree, err
}

// filesOf lists what differs between two trees.
func (c *Committer) filesOf(before, after string) ([]Change, error) {
	out, err := c.repo.git(run{args: []string{"diff-tree", "-r", "-z", "--numstat", "--no-renames", before, after}})
	if err != nil {
		return nil, err
	}
	files := []Change{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(entry, "\t", 3)
		if len(fields) != 3 {
			continue
		}
		f := Change{Path: fields[2], Binary: fields[0] == "-"}
		f.Added, _ = strconv.Atoi(fields[0])   // "-" is a binary file
		f.Deleted, _ = strconv.Atoi(fields[1]) // as well
		files = append(files, f)
	}
	return files, nil
}
