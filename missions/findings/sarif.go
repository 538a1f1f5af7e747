package findings

import (
	"encoding/json"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// sarifLog is as much as is needed of a document of SARIF 2.1.0, by the standard of OASIS:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type sarifLog struct {
	Runs []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifTool `json:"driver"`
	} `json:"tool"`
	Results   []sarifResult                  `json:"results"`
	Artifacts []struct{ Location sarifFile } `json:"artifacts"`
	Bases     map[string]sarifFile           `json:"originalUriBaseIds"`
}

type sarifTool struct {
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID       string `json:"id"`
	Defaults struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Messages   map[string]sarifText `json:"messageStrings"`
	Properties struct {
		Security json.RawMessage `json:"security-severity"` // as GitHub has it: "0.0" to "10.0"
	} `json:"properties"`
}

type sarifResult struct {
	RuleID    string `json:"ruleId"`
	RuleIndex *int   `json:"ruleIndex"`
	Rule      struct {
		Index *int
		ID    string
	} `json:"rule"`
	Kind      string          `json:"kind"`
	Level     string          `json:"level"`
	Baseline  string          `json:"baselineState"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
	Fixes     []struct {
		Description sarifText `json:"description"`
	} `json:"fixes"`
	Suppressions []struct {
		Status string `json:"status"`
	} `json:"suppressions"`
}

type sarifLocation struct {
	Physical struct {
		File   sarifFile `json:"artifactLocation"`
		Region struct {
			Line   float64 `json:"startLine"`
			Column float64 `json:"startColumn"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

type sarifText struct {
	Text      string   `json:"text"`
	Markdown  string   `json:"markdown"`
	ID        string   `json:"id"`
	Arguments []string `json:"arguments"`
}

type sarifFile struct {
	URI   string `json:"uri"`
	Base  string `json:"uriBaseId"`
	Index *int   `json:"index"`
}

// findings are what the runs have found that is wrong, and that nobody has suppressed.
func (l sarifLog) findings(root string) (list []Finding) {
	for _, run := range l.Runs {
		for _, r := range run.Results {
			if !r.isOpen() {
				continue
			}
			rule := run.ruleOf(r)
			f := Finding{Severity: r.severity(rule), Message: r.Message.in(rule), Rule: rule.ID}
			if len(r.Locations) > 0 {
				at := r.Locations[0].Physical
				f.File, f.Line, f.Column = run.nameOf(at.File, root), numberOf(at.Region.Line), numberOf(at.Region.Column)
			}
			if len(r.Fixes) > 0 {
				f.Suggestion = r.Fixes[0].Description.in(rule)
			}
			list = append(list, f)
		}
	}
	return list
}

// isOpen reports whether a result says that something is wrong now.
func (r sarifResult) isOpen() bool {
	switch r.Kind {
	case "", "fail", "open", "review":
	default:
		return false
	}
	for _, s := range r.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			return false
		}
	}
	return r.Baseline != "absent"
}

// severity follows the level, and the rule's default where the result has none; security
// comes first, by GitHub's scale.
func (r sarifResult) severity(rule sarifRule) missions.Severity {
	score, err := strconv.ParseFloat(strings.Trim(string(rule.Properties.Security), `"`), 64)
	switch {
	case err != nil:
	case score >= 9:
		return missions.SeverityCritical
	case score >= 7:
		return missions.SeverityHigh
	case score >= 4:
		return missions.SeverityMedium
	case score > 0:
		return missions.SeverityLow
	}
	level := r.Level
	if level == "" {
		level = rule.Defaults.Level
	}
	severity, _ := severityOf(level)
	return severity
}

// ruleOf is the rule of a result, with its id alone where the run does not describe it.
func (run sarifRun) ruleOf(r sarifResult) sarifRule {
	id, index, rules := r.RuleID, r.RuleIndex, run.Tool.Driver.Rules
	if id == "" {
		id = r.Rule.ID
	}
	if index == nil {
		index = r.Rule.Index
	}
	if index != nil && 0 <= *index && *index < len(rules) && (id == "" || isRule(id, rules[*index].ID)) {
		rule := rules[*index]
		if id != "" {
			rule.ID = id
		}
		return rule
	}
	for _, rule := range rules {
		if isRule(id, rule.ID) {
			rule.ID = id
			return rule
		}
	}
	return sarifRule{ID: id}
}

// isRule reports whether a result's id is that of a rule, or of a part of it: "CA1000/1".
func isRule(id, rule string) bool { return id == rule || strings.HasPrefix(id, rule+"/") && rule != "" }

// in is a message, which may be one of its rule's.
func (t sarifText) in(rule sarifRule) string {
	text := t.Text
	if text == "" {
		text = t.Markdown
	}
	if text == "" {
		text = rule.Messages[t.ID].Text
	}
	for i, argument := range t.Arguments {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", argument)
	}
	if text == "" {
		text = rule.ID
	}
	return text
}

// nameOf is the name of a file, from root where it is below that.
func (run sarifRun) nameOf(f sarifFile, root string) string {
	if f.URI == "" && f.Index != nil && 0 <= *f.Index && *f.Index < len(run.Artifacts) {
		f = run.Artifacts[*f.Index].Location
	}
	name := pathOf(f.URI)
	if name == "" || path.IsAbs(name) {
		return belowRoot(name, root)
	}
	if base := pathOf(run.Bases[f.Base].URI); base != "" {
		name = path.Join(base, name)
	}
	return belowRoot(name, root)
}

// pathOf is the path of a URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "" && u.Scheme != "file" {
		return uri
	}
	return u.Path
}
