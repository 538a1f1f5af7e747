package hazards

import (
	"fmt"
	"slices"
	"strings"
)

// The lines around what is generated in docs/hazards.md.
const (
	begin = "<!-- generated from the tests: UMBRA_UPDATE_DOCS=1 go test ./scripts/hazards -->\n"
	end   = "<!-- end of what is generated -->\n"
)

// section is the page's generated part, without the lines around it.
func section(claims []claim) string {
	var b strings.Builder
	b.WriteString("| | what happened elsewhere | the naive way, shown | Umbra, held |\n|---|---|---|---|\n")
	for _, h := range table {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", h.ID, cell(h.Elsewhere), cellOf(claims, "Shown", h.ID), cellOf(claims, "Held", h.ID))
	}
	b.WriteString("\nTests that run only where the machine allows, and say so where it does not:\n\n")
	for _, h := range table {
		for _, c := range claims {
			if c.verb == "Needs" && c.id == h.ID {
				fmt.Fprintf(&b, "- %s, `%s`: needs %s.\n", h.ID, c.test, c.text)
			}
		}
	}
	b.WriteString("\nWhat cannot be tested here:\n\n")
	for _, u := range untestable {
		fmt.Fprintf(&b, "- **%s** %s\n", u.what, u.why)
	}
	return b.String()
}

// cellOf are the claims of one verb about one hazard.
func cellOf(claims []claim, verb string, id ID) string {
	var parts []string
	for _, c := range claims {
		if c.verb != verb || c.id != id {
			continue
		}
		part := cell(c.text) + " `" + c.test + "`"
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

func cell(text string) string {
	return strings.ReplaceAll(text, "|", "\\|")
}

// replace puts the section into the page.
func replace(page, section string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("the page has no lines %q and %q", begin, end)
	}
	return before + begin + section + end + after, nil
}

// missing are the faults of the claims: a hazard that no test reproduces or
// none holds, and a name that the table does not know.
func missing(claims []claim) []string {
	var faults []string
	for _, h := range table {
		for _, verb := range []string{"Shown", "Held"} {
			if !slices.ContainsFunc(claims, func(c claim) bool { return c.verb == verb && c.id == h.ID }) {
				faults = append(faults, fmt.Sprintf("%s: no test says %s", h.ID, verb))
			}
		}
	}
	for _, c := range claims {
		if !slices.ContainsFunc(table, func(h Hazard) bool { return h.ID == c.id }) {
			faults = append(faults, fmt.Sprintf("%s: %s is not in the table", c.test, c.id))
		}
	}
	return faults
}
