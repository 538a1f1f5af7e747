package history

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type searchOptions struct {
	mission, agent, since, in string
	limit                     int
}

// Search is `umbra search`.
func Search() *call.Verb {
	var o searchOptions
	return &call.Verb{
		Name: "search", Args: "QUERY…", Min: 1, Max: call.AnyNumber, Short: "find the moments at which something was said or done, newest first",
		Long: `It looks in what people asked and agents and their subagents answered, in tool calls with
their commands and exit codes, in the messages of snapshots and in the names of files: of
every mission of every project, the closed and imported ones, those in the trash and those
that were fetched from a remote too.
All words of QUERY are to be in one message, call, name or line, in capitals or not. A
"quoted text", with its quotes, is to be there as it is. A path or a content is found once,
where it came about. What forks share is found at the mission where it was said.`,
		Flags: []flags.Flag{
			flags.String("mission", "only what was said and done in `MISSION`", &o.mission),
			flags.String("agent", "only missions of `AGENT`: "+missions.AgentNames, &o.agent),
			flags.String("since", "not older than `TIME`: 10m, 2h, 3d, 2026-01-31", &o.since),
			flags.String("in", "only in `PLACE,…`: prompts, answers, tools, commands, output (what tool calls gave back), messages, paths, or files, their content as it ever was", &o.in),
			flags.Int("n", "no more than `N`", &o.limit),
		},
		Run: func(c *call.Call) error { return runSearch(c, o) },
	}
}

// Of hits, the first page is small, so that it is there at once, and the others are large.
const laterPages = 2000

func runSearch(c *call.Call, o searchOptions) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	query := strings.ToValidUTF8(strings.Join(c.Arguments, " "), "\uFFFD")
	r := missions.SearchRequest{Caller: caller, Query: query, Mission: o.mission, Agent: o.agent, Since: o.since}
	for _, place := range strings.FieldsFunc(o.in, func(r rune) bool { return r == ',' || r == ' ' }) {
		r.In = append(r.In, missions.SearchPlace(place))
	}
	mark := markOf(r.Query)
	streams := !c.JSON && c.Pager() == ""
	var all []missions.SearchHit
	found := 0
	err = searchPages(ctx, svc, r, o.limit, func(hits []missions.SearchHit) error {
		found += len(hits)
		if !streams {
			all = append(all, hits...)
			return nil
		}
		return c.Print(nil, func(p *print.Printer) { writeHits(p, hits, mark) })
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return c.PrintJSON(call.Listed(all))
	case found == 0:
		c.Notice("nothing was found")
		return nil
	case streams:
		return nil
	}
	return c.Paged("search", func(p *print.Printer) {
		writeHits(p, all, mark)
		p.Line("%s", p.Paint(print.Dim, wayOn(all[0])))
	})
}

// searchPages asks for hits page by page, up to a limit; 0 is none.
func searchPages(ctx context.Context, svc missions.Service, r missions.SearchRequest, limit int, take func([]missions.SearchHit) error) error {
	for page, left := missions.SearchPage, limit; ; page = laterPages {
		if r.Limit = page; limit > 0 {
			r.Limit = min(page, left)
		}
		result, err := svc.Search(ctx, r)
		if err != nil {
			return err
		}
		if err := take(result.Hits); err != nil {
			return err
		}
		left -= len(result.Hits)
		if !result.More || len(result.Hits) == 0 || limit > 0 && left <= 0 {
			return nil
		}
		r.After = &result.Hits[len(result.Hits)-1]
	}
}

// wayOn says what to type with a hit.
func wayOn(hit missions.SearchHit) string {
	if hit.Removed {
		return fmt.Sprintf("%s is in the trash: umbra trash restore %s", hit.Mission, hit.Mission)
	}
	if _, _, fetched := missions.SplitFetched(hit.Mission); fetched {
		return fmt.Sprintf("umbra show %s shows the first; umbra fork takes it too", hit.Address)
	}
	return fmt.Sprintf("umbra show %s shows the first; umbra fork and restore take it too", hit.Address)
}

// markOf matches what a query looks for.
func markOf(query string) *regexp.Regexp {
	var parts []string
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			if part != "" {
				parts = append(parts, regexp.QuoteMeta(part))
			}
			continue
		}
		for word := range strings.FieldsSeq(part) {
			parts = append(parts, "(?i:"+regexp.QuoteMeta(word)+")")
		}
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	return regexp.MustCompile(strings.Join(parts, "|"))
}

// writeHits prints a hit a line: what can be typed, when, where, and the text.
func writeHits(p *print.Printer, hits []missions.SearchHit, mark *regexp.Regexp) {
	const addressColumns = 20
	for _, hit := range hits {
		address := print.Clean(hit.Address) // whole: it is to be typed
		pad := strings.Repeat(" ", max(0, addressColumns-print.Columns(address)))
		about := fmt.Sprintf("  %-8s %-8s ", p.When(hit.At), hit.In)
		text := hitText(hit)
		if p.Width > 0 {
			text = keepInSight(text, mark, p.Width-print.Columns(address+pad+about)-1)
		}
		p.Line("%s%s%s%s", p.Paint(print.Yellow, address), pad, p.Paint(print.Dim, about), p.Mark(mark, text))
	}
}

// hitText is the text of a hit with what tells where it is.
func hitText(hit missions.SearchHit) string {
	text := print.Clean(hit.Text)
	switch {
	case hit.In == missions.SearchFiles:
		text = fmt.Sprintf("%s:%d: %s", print.Clean(hit.Path), hit.Line, text)
	case hit.Exit != "":
		text += " (exit " + print.Clean(hit.Exit) + ")"
	}
	if hit.Subagent != "" {
		text += " (in a subagent)"
	}
	if hit.Removed {
		text += " (in the trash)"
	}
	return text
}

// keepInSight cuts a text to so many columns, from the front too where the first match
// would be out of them.
func keepInSight(text string, mark *regexp.Regexp, columns int) string {
	columns = max(columns, 20)
	at := mark.FindStringIndex(text)
	if at != nil && print.Columns(text[:at[1]]) > columns-1 {
		before := []rune(text[:at[0]])
		text = "…" + string(before[max(0, len(before)-columns/3):]) + text[at[0]:]
	}
	return print.Cut(text, columns)
}
