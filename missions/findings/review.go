package findings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// ErrNoReview is an answer that says nothing of whether something is wrong.
var ErrNoReview = errors.New("no review")

// ReadReview reads an agent's answer: text that ends with a list of findings, which may stand
// in a fence of Markdown. An empty list alone says that nothing is wrong. roots are the names
// of the directory that was reviewed: a finding in another place is refused with the whole
// answer, since its reviewer has looked elsewhere.
func ReadReview(answer string, roots ...string) ([]Finding, error) {
	text, err := listAtEnd(answer)
	if err != nil {
		return nil, err
	}
	var items []*reviewed
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&items); err != nil {
		return nil, fmt.Errorf("%w: its list of findings can't be read: %w", ErrNoReview, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something comes after its list of findings", ErrNoReview)
	}
	if items == nil {
		return nil, fmt.Errorf("%w: it ends with no list of findings", ErrNoReview)
	}
	list := []Finding{}
	for i, item := range items {
		f, err := item.finding(roots)
		if err != nil {
			return nil, fmt.Errorf("%w: finding %d %w", ErrNoReview, i+1, err)
		}
		list = append(list, f)
	}
	return sorted(list), nil
}

// listAtEnd is the list that an answer ends with.
func listAtEnd(answer string) (string, error) {
	answer = strings.TrimSpace(strings.ReplaceAll(answer, "\r\n", "\n"))
	const fence = "```"
	if inside, fenced := strings.CutSuffix(answer, fence); fenced {
		if begin := strings.LastIndex("\n"+inside, "\n"+fence); begin >= 0 { // a suggestion may hold another, in its line
			_, body, _ := strings.Cut(inside[begin:], "\n")
			return strings.TrimSpace(body), nil
		}
	}
	if answer == "" {
		return "", fmt.Errorf("%w: it is empty", ErrNoReview)
	}
	lines := strings.Split(answer, "\n")
	begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "[") })
	if begin < 0 {
		return "", fmt.Errorf("%w: it ends with no list of findings", ErrNoReview)
	}
	return strings.Join(lines[begin:], "\n"), nil
}

// reviewed is a finding as a reviewer writes it.
type reviewed struct {
	Severity   string   `json:"severity"`
	Message    string   `json:"message"`
	File       string   `json:"file"`
	Line       *float64 `json:"line"`
	Suggestion *string  `json:"suggestion"`
}

func (r *reviewed) finding(roots []string) (f Finding, err error) {
	if r == nil || strings.TrimSpace(r.Message) == "" {
		return f, errors.New("has no message")
	}
	f.Message = r.Message
	if f.Severity = missions.Severity(strings.ToLower(strings.TrimSpace(r.Severity))); !slices.Contains(Severities(), f.Severity) {
		return f, fmt.Errorf("has the severity %q", missions.TruncateText(r.Severity, maxShown))
	}
	if r.Line != nil {
		f.Line = numberOf(*r.Line)
	}
	if r.Suggestion != nil {
		f.Suggestion = *r.Suggestion
	}
	if r.File == "" {
		return f, nil
	}
	if f.File = filepath.Clean(belowAny(r.File, roots)); !filepath.IsLocal(f.File) || f.File == "." {
		return f, fmt.Errorf("is in %q, which is outside what was to be reviewed", missions.TruncateText(r.File, maxShown))
	}
	return f, nil
}

// maxShown is how much of what a reviewer wrote an error shows.
const maxShown = 100

// belowAny names a file from the root that it is below.
func belowAny(file string, roots []string) string {
	for _, root := range roots {
		if below := belowRoot(file, root); below != file {
			return below
		}
	}
	return file
}
