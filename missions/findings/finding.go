// Package findings reads what checks and linters say is wrong with files. It
// opens no file and runs nothing.
package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// Finding is one thing that is wrong.
type Finding struct {
	Severity   missions.Severity `json:"severity"`
	Message    string            `json:"message"`
	File       string            `json:"file,omitempty"` // as it was said: below the directory of the check, or absolute
	Line       int               `json:"line,omitempty"` // from 1
	Column     int               `json:"column,omitempty"`
	Rule       string            `json:"rule,omitempty"`
	Suggestion string            `json:"suggestion,omitempty"`
}

// Severities are all severities, the worst one first.
func Severities() []missions.Severity {
	return []missions.Severity{missions.SeverityCritical, missions.SeverityHigh, missions.SeverityMedium, missions.SeverityLow}
}

// Place is where it is, such as "pay/sum.go:12:4"; "" if that was not said.
func (f Finding) Place() string {
	place := f.File
	for _, n := range []int{f.Line, f.Column} {
		if n <= 0 {
			break
		}
		place += fmt.Sprintf(":%d", n)
	}
	return place
}

// variable is what differs between two runs of one check: how long it took, and addresses
// in memory.
var variable = pattern(`\b(?:\d+(?:\.\d+)?(?:ns|µs|us|ms|s|m|h)|0x[0-9a-fA-F]+)\b`)

// key tells a finding from others, also when the lines above it have changed since.
func (f Finding) key() string {
	return strings.Join([]string{f.File, f.Rule, variable().ReplaceAllString(f.Message, "~")}, "\x00")
}

// AreSame reports whether two checks have found the same, wherever it is in the files now.
func AreSame(one, other []Finding) bool {
	return slices.Equal(sortedKeys(one), sortedKeys(other))
}

func sortedKeys(list []Finding) (keys []string) {
	for _, f := range list {
		keys = append(keys, f.key())
	}
	slices.Sort(keys)
	return keys
}

// Worst are the findings of the worst severity that there is.
func Worst(list []Finding) (severity missions.Severity, worst []Finding) {
	for _, severity = range Severities() {
		for _, f := range list {
			if f.Severity == severity {
				worst = append(worst, f)
			}
		}
		if len(worst) > 0 {
			return severity, worst
		}
	}
	return "", nil
}

// sorted are findings, the worst first, none of them twice.
func sorted(list []Finding) []Finding {
	seen, out := map[Finding]bool{}, []Finding{}
	for _, severity := range Severities() {
		for _, f := range list {
			if f.Severity == severity && !seen[f] {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// severityOf is the severity that tools mean by a word, and whether it is such a word.
func severityOf(word string) (missions.Severity, bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "critical", "blocker":
		return missions.SeverityCritical, true
	case "high", "major", "error", "fatal", "fatal error":
		return missions.SeverityHigh, true
	case "medium", "moderate", "warning", "warn":
		return missions.SeverityMedium, true
	case "low", "minor", "note", "none", "info", "information", "hint", "style", "remark", "convention", "refactor":
		return missions.SeverityLow, true
	}
	return missions.SeverityMedium, false
}
