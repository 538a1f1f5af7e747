package commits

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// An authorshipLog is a note of the Git AI standard, version 3.0.0: behind the lines that
// name files and who wrote which of their lines comes this document
// (git_ai_standard_v3.0.0.md in the repository git-ai-project/git-ai).
type authorshipLog struct {
	Schema  string                  `json:"schema_version"`
	Base    string                  `json:"base_commit_sha"`
	Prompts map[string]promptRecord `json:"prompts"`
}

type promptRecord struct {
	Agent      agentID  `json:"agent_id"`
	Human      string   `json:"human_author,omitempty"`
	Messages   []string `json:"messages"` // none: prompts stay where they are
	Added      int      `json:"total_additions"`
	Deleted    int      `json:"total_deletions"`
	Accepted   int      `json:"accepted_lines"`
	Overridden int      `json:"overriden_lines"` // as the standard writes it
}

type agentID struct {
	Tool  string `json:"tool"`
	ID    string `json:"id"`
	Model string `json:"model"`
}

// writeNotes says of each commit which lines the agent wrote. A commit that has such a note,
// of a hook of Git AI's own, keeps it.
func (c *Committer) writeNotes(list []Commit) error {
	for _, commit := range list {
		note, err := c.authorship(commit)
		if err != nil || note == "" {
			return err
		}
		if _, err := c.repo.line("notes", "--ref=refs/notes/ai", "list", commit.ID); err == nil {
			continue
		}
		if _, err := c.repo.git(run{args: []string{"notes", "--ref=refs/notes/ai", "add", "-F", "-", commit.ID}, input: strings.NewReader(note)}); err != nil {
			return fmt.Errorf("the commits are made, but not the notes: %w", err)
		}
	}
	return nil
}

// authorship is the note of a commit, "" if it adds no line.
func (c *Committer) authorship(commit Commit) (string, error) {
	out, err := c.repo.git(run{args: []string{
		"-c", "core.quotePath=false", "diff-tree", "--root", "--no-commit-id", "-p", "-r", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", commit.ID,
	}})
	if err != nil {
		return "", err
	}
	m := c.plan.Mission
	agent := agentID{Tool: m.Agent, ID: m.SessionID, Model: "unknown"}
	if agent.ID == "" {
		agent.ID = m.ID
	}
	sum := sha256.Sum256([]byte(agent.Tool + ":" + agent.ID))
	key := hex.EncodeToString(sum[:8])
	record := promptRecord{Agent: agent, Messages: []string{}}
	if record.Human, err = c.repo.line("log", "-1", "--no-show-signature", "--format=%an <%ae>", commit.ID); err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, f := range addedLines(string(out)) {
		name := f.path
		if strings.ContainsAny(name, " \t\"") {
			name = strconv.Quote(name)
		}
		fmt.Fprintf(&lines, "%s\n  %s %s\n", name, key, strings.Join(f.ranges, ","))
	}
	for _, f := range commit.Files {
		record.Added += f.Added
		record.Deleted += f.Deleted
	}
	if record.Accepted = record.Added; lines.Len() == 0 {
		return "", nil
	}
	doc, err := json.MarshalIndent(authorshipLog{Schema: "authorship/3.0.0", Base: commit.ID, Prompts: map[string]promptRecord{key: record}}, "", "  ")
	return lines.String() + "---\n" + string(doc) + "\n", err
}

// fileLines are the lines that a patch adds to a file.
type fileLines struct {
	path   string
	ranges []string
}

// addedLines reads a patch without context.
func addedLines(patch string) (list []fileLines) {
	inHunk := 0 // lines of a hunk that are left
	for line := range strings.SplitSeq(patch, "\n") {
		if inHunk > 0 {
			if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
				inHunk--
			}
			continue
		}
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			list = append(list, fileLines{path: strings.TrimSuffix(name, "\t")})
			continue
		}
		if name, ok := strings.CutPrefix(line, `+++ "b/`); ok {
			if unquoted, err := strconv.Unquote(`"` + name); err == nil {
				name = unquoted
			}
			list = append(list, fileLines{path: name})
			continue
		}
		var hunk string
		if _, err := fmt.Sscanf(line, "@@ -%s", &hunk); err != nil || len(list) == 0 && !strings.Contains(line, "+0,0") {
			continue
		}
		fields := strings.Fields(line)
		from, added := span(strings.TrimPrefix(fields[2], "+"))
		_, deleted := span(strings.TrimPrefix(fields[1], "-"))
		inHunk = added + deleted
		if added == 0 || len(list) == 0 {
			continue
		}
		text := strconv.Itoa(from)
		if added > 1 {
			text += "-" + strconv.Itoa(from+added-1)
		}
		list[len(list)-1].ranges = append(list[len(list)-1].ranges, text)
	}
	kept := list[:0]
	for _, f := range list {
		if len(f.ranges) > 0 {
			kept = append(kept, f)
		}
	}
	return kept
}

// span is a range of lines in a hunk's head: its first line, and how many there are.
func span(s string) (from, count int) {
	first, rest, found := strings.Cut(s, ",")
	from, _ = strconv.Atoi(first) // git writes numbers
	if count = 1; found {
		count, _ = strconv.Atoi(rest)
	}
	return from, count
}
