package findings

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/missions"
)

const (
	// maxTrials is how many lines that may begin a document are tried in vain.
	maxTrials = 100
	// tailLines and tailBytes are how much of an output stands for it.
	tailLines, tailBytes = 40, 4 << 10
)

// Parse reads what a check has printed, the worst first: each document of SARIF 2.1, each
// list of objects as Finding has them, and of all other lines those that name a place, as
// compilers and linters write them. root is the directory that the check ran in: files
// below it are named from there.
func Parse(output []byte, root string) []Finding {
	var (
		found []Finding
		lines lineReader
	)
	for trials := 0; len(output) > 0; {
		if c := bytes.TrimLeft(output, " \t\r\n"); trials < maxTrials && len(c) > 0 && (c[0] == '{' || c[0] == '[') {
			if list, size, is := parseDocument(c, root); is {
				found, output = append(found, list...), c[size:]
				continue
			}
			trials++
		}
		line, rest, _ := bytes.Cut(output, []byte("\n"))
		output = rest
		lines.read(string(line), root)
	}
	return sorted(append(found, lines.found...))
}

// Whole is an output as one finding, for a check that names no place.
func Whole(output []byte) Finding {
	text := strings.TrimSpace(plainText(string(output)))
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
		if _, rest, cut := strings.Cut(text, "\n"); cut {
			text = rest
		}
		text = strings.ToValidUTF8(text, "")
	}
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	if text == "" {
		text = "the check fails, and prints nothing"
	}
	return Finding{Severity: missions.SeverityMedium, Message: text}
}

// parseDocument reads the document that a text begins with, and how long that is.
func parseDocument(text []byte, root string) (list []Finding, size int, is bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if text[0] == '{' {
		var log sarifLog
		if d.Decode(&log) != nil || log.Runs == nil {
			return nil, 0, false
		}
		return log.findings(root), int(d.InputOffset()), true
	}
	var items []*listedFinding
	if d.Decode(&items) != nil {
		return nil, 0, false
	}
	for _, item := range items {
		if item == nil || item.Message == "" {
			return nil, 0, false // a list of something else
		}
		list = append(list, item.finding(root))
	}
	return list, int(d.InputOffset()), true
}

// listedFinding is a finding in a list: its severity may be any word that tools use.
type listedFinding struct {
	Severity   string  `json:"severity"`
	Message    string  `json:"message"`
	File       string  `json:"file"`
	Line       float64 `json:"line"`
	Column     float64 `json:"column"`
	Rule       string  `json:"rule"`
	Suggestion string  `json:"suggestion"`
}

func (i listedFinding) finding(root string) Finding {
	severity, _ := severityOf(i.Severity)
	return Finding{
		Severity: severity, Message: i.Message, File: belowRoot(i.File, root), Line: numberOf(i.Line), Column: numberOf(i.Column),
		Rule: i.Rule, Suggestion: i.Suggestion,
	}
}

// numberOf is a line or a column; what can be none is 0.
func numberOf(n float64) int {
	if n >= 1 && n < 1<<31 {
		return int(n)
	}
	return 0
}

// belowRoot names a file from root, if it is below it.
func belowRoot(file, root string) string {
	if below, is := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); is && root != "" {
		file = below
	}
	return strings.TrimPrefix(file, "./")
}

// lineReader reads lines as compilers and linters write them.
type lineReader struct {
	found []Finding
	title string // a line such as rustc's "error: mismatched types", whose place comes next
}

// pattern is one that is compiled when it is first used: most runs of the program have no use
// for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	// placed is `file:line:column: message`, and `file(line,column): message`.
	placed = pattern(`^\s*([^\s:()][^\s:]*?)(?::(\d+)(?::(\d+))?|\((\d+)(?:,(\d+))?\))(?::|\s+-)\s+(\S.*)$`)
	// arrow is the place of a title.
	arrow = pattern(`^\s*-->\s+([^\s:]+):(\d+)(?::(\d+))?\s*$`)
	// title is `error: message`, `warning[code]: message`, `error TS2322: message`.
	title = pattern(`^(fatal error|fatal|error|warning|info|hint|remark|note|help)(?:\[[^\]]*\]|\s+[A-Z]+\d+)?:\s+(\S.*)$`)
	// namesFile is what the name of a file looks like, unlike a host or a time.
	namesFile = pattern(`(?:/|\.[A-Za-z]\w*$|^(?:GNU)?[Mm]akefile$)`)
	// escape is what colours are made of.
	escape = pattern(`\x1b\[[0-9;]*[A-Za-z]`)
)

// plainText is a text without colours.
func plainText(text string) string { return escape().ReplaceAllString(text, "") }

func (r *lineReader) read(line, root string) {
	line = strings.TrimRight(plainText(line), " \t\r")
	if at := arrow().FindStringSubmatch(line); at != nil && r.title != "" {
		r.add(at[1], at[2], at[3], r.title, root)
		r.title = ""
		return
	}
	if title().MatchString(line) {
		r.title = line
		return
	}
	at := placed().FindStringSubmatch(line)
	if at == nil || !namesFile().MatchString(at[1]) || strings.HasPrefix(at[1], "//") {
		return
	}
	r.title = ""
	r.add(at[1], at[2]+at[4], at[3]+at[5], at[6], root)
}

// add adds what a line says of a place. Notes explain the finding before them.
func (r *lineReader) add(file, line, column, message, root string) {
	f := Finding{Severity: missions.SeverityMedium, Message: message, File: belowRoot(file, root)}
	f.Line, _ = strconv.Atoi(line) // none that is too large
	f.Column, _ = strconv.Atoi(column)
	if is := title().FindStringSubmatch(message); is != nil {
		if is[1] == "note" || is[1] == "help" {
			return
		}
		f.Severity, _ = severityOf(is[1])
	}
	r.found = append(r.found, f)
}
