package main

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// render writes what was found as Markdown.
func render(a about, found []*finding) string {
	var b strings.Builder
	b.WriteString(a.text())
	b.WriteString("\n| | what | target | measured | |\n|---|---|---|---|---|\n")
	for _, f := range found {
		var got []string
		for _, c := range f.checks {
			mark := ""
			if !c.met {
				mark = " **✗**"
			}
			got = append(got, c.what+" "+c.got+mark)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.goal.id, f.goal.what, f.goal.target, strings.Join(got, "<br>"), f.verdict())
	}
	b.WriteString("\n| | case | p50 / p95 | CPU | memory | peer | p50 / p95 | CPU | faster by |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, f := range found {
		for _, l := range f.lines {
			for _, row := range l.rows() {
				fmt.Fprintf(&b, "| %s | %s |\n", f.goal.id, strings.Join(row, " | "))
			}
		}
	}
	b.WriteByte('\n')
	for _, f := range found {
		for _, note := range f.notes {
			fmt.Fprintf(&b, "- %s: %s\n", f.goal.id, note)
		}
		if f.failed != nil {
			fmt.Fprintf(&b, "- %s, not measured: %s\n", f.goal.id, oneLine(f.failed.Error()))
		}
	}
	return b.String()
}

// rows are the cells of a line, one row for each peer.
func (l line) rows() [][]string {
	own := append([]string{l.what}, figures(l.umbra)...)
	memory := ""
	if peak := l.umbra.Peak(); peak > 0 {
		memory = number(megabytes(peak)) + " MB"
	}
	own = append(own, memory)
	if len(l.peers) == 0 {
		return [][]string{append(own, "", "", "", "")}
	}
	var rows [][]string
	for _, p := range l.peers {
		faster := ""
		if ratio := lab.Ratio(l.umbra.Walls(), p.costs.Walls()); ratio >= 1 {
			faster = number(ratio) + "×"
		}
		row := append(append(append([]string{}, own...), p.name), figures(p.costs)...)
		rows = append(rows, append(row, faster))
	}
	return rows
}

func figures(c lab.Costs) []string {
	if len(c) == 0 {
		return []string{"", ""}
	}
	wall := c.Walls()
	text := duration(wall.Median())
	if len(c) >= 10 {
		text += " / " + duration(wall.Percentile(95))
	}
	return []string{text, duration(c.CPUs().Median())}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
