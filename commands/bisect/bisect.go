// Package bisect is the verb that finds the turn which broke something. The user's command
// runs in workspaces that are made for it and go when it has ended, never in the mission's.
package bisect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/bisections"
	"github.com/umbra-vcs/umbra/missions/checks"
	"github.com/umbra-vcs/umbra/missions/home"
)

// options are the flags of umbra bisect.
type options struct {
	good, bad string
	invert    bool
	atOnce    int
	timeout   time.Duration
}

// Command is `umbra bisect`.
func Command() *call.Verb {
	var o options
	return &call.Verb{
		Name: "bisect", Args: "[MISSION]", Max: 1, After: "-- COMMAND…", Short: "find the turn that broke something, by running a command",
		Long: `Runs the command in workspaces of its own, each as the mission's was after a turn, with
what Git ignores, and removes them. Exit code 0 is good; 125, a signal or the time limit
can't tell; anything else is bad. Your changes between turns count too. The turn, its prompt
and its changes are printed, and what to type. With one word behind -- that is a line for
the shell.
A search that was stopped or killed goes on where it was when the same command is typed
again.`,
		Flags: []flags.Flag{
			flags.String("good", "a `MOMENT` that was good, by default the mission's first", &o.good),
			flags.String("bad", "a `MOMENT` that is bad, by default the newest", &o.bad),
			flags.Bool("invert", "find the turn that mended it: from which on the command passes", &o.invert),
			flags.Int("j", "run `N` at once, by default one for each processor", &o.atOnce),
			flags.Duration("timeout", "end each run after `TIME`, by default check.time_limit", &o.timeout),
		},
		Run: func(c *call.Call) error { return run(c, o) },
	}
}

// found is what a search came to, as it is printed.
type found struct {
	FirstBad  *suspect  `json:"first_bad"`            // null where several may be it, and with --invert
	FirstGood *suspect  `json:"first_good,omitempty"` // with --invert
	Suspects  []suspect `json:"suspects,omitempty"`
	Tested    []tested  `json:"tested"`
	Skipped   []suspect `json:"skipped"`
	Unsteady  []suspect `json:"unsteady,omitempty"` // bad, although a later one was good; with --invert the other way round
	Rounds    int       `json:"rounds"`             // also those before an interruption

	before   *missions.Entry // the state before what was found
	change   missions.Difference
	inverted bool
}

// suspect is a state that may be the first bad one.
type suspect struct {
	Snapshot string `json:"snapshot"`
	Address  string `json:"address"`
	Turn     int    `json:"turn"`
	Prompt   string `json:"prompt"`
	Between  bool   `json:"between_turns,omitempty"` // changed by the user, or another program

	label string
}

// tested is what the command said of a state.
type tested struct {
	Snapshot string `json:"snapshot"`
	Address  string `json:"address"`
	missions.Check
}

// bisector is one run of the verb.
type bisector struct {
	c       *call.Call
	ctx     context.Context // reports progress, so it is for one call at a time
	svc     missions.Service
	caller  missions.Caller
	options options
	mission missions.Mission
	line    string // for the shell
	home    home.Home
	points  []point
	search  *bisections.Search
	journal *journal
	limit   time.Duration
	forking sync.Mutex // forks are made and removed one by one
	saying  sync.Mutex // so are notices
}

func run(c *call.Call, o options) error {
	if len(c.After) == 0 {
		return missions.Errorf(missions.KindUsage, "umbra bisect login -- make test", "which command says whether it is good?")
	}
	if o.atOnce < 0 || o.timeout < 0 {
		return missions.Errorf(missions.KindUsage, "leave it out", "-j and --timeout can't be negative")
	}
	if o.atOnce == 0 {
		o.atOnce = runtime.GOMAXPROCS(0)
	}
	dir, err := c.HomeDir()
	if err != nil {
		return err
	}
	b := &bisector{c: c, options: o, home: home.Home{Dir: dir}, line: home.ShellCommand(c.After)}
	if len(c.After) == 1 {
		b.line = c.After[0]
	}
	if b.limit = o.timeout; o.timeout == 0 {
		if b.limit, err = checks.Limit(b.home, c.Getenv); err != nil {
			return err
		}
	}
	if b.svc, b.caller, b.ctx, err = c.Asking(); err != nil {
		return err
	}
	if c.Unwritten != nil {
		return c.Unwritten // there is no place for what is found out
	}
	if err := b.readPoints(c.Arg(0)); err != nil {
		return err
	}
	if b.journal, err = openJournal(b.home.BisectFile(b.mission.ID), b.asked()); err != nil {
		return err
	}
	rounds, err := b.find()
	var result found
	if err == nil {
		if result, err = b.result(rounds); err == nil {
			err = c.Print(result, func(p *print.Printer) { result.write(p, b.mission.Name) })
		}
	}
	over := err == nil || b.search.EndsWrong() >= 0 // then others may be named
	if err = errors.Join(err, b.journal.close(over)); err != nil {
		return err
	}
	if result.culprit() == nil {
		return call.Partly
	}
	return nil
}

// asked is what a search must have in common with one that goes on.
func (b *bisector) asked() question {
	return question{Command: b.line, Good: b.points[0].entry.ID, Bad: b.points[len(b.points)-1].entry.ID, Invert: b.options.invert, Timeout: b.options.timeout}
}

// find runs the search to its end, and counts its rounds.
func (b *bisector) find() (rounds int, err error) {
	b.search = bisections.New(len(b.points))
	for i, p := range b.points {
		if check, known := b.journal.verdicts[p.entry.ID]; known {
			b.search.Set(i, b.side(check.State))
		}
	}
	rounds = b.journal.rounds
	if _, err := checks.EndLeft(b.c.Context, b.home, b.runningName()); err != nil {
		return 0, missions.Errorf(missions.KindFailed, cmp.Or(missions.AsError(err).Hint, "end it, then the same again"), "%w", err)
	}
	for _, name := range b.journal.scratches {
		b.removeScratch(name, true)
	}
	for {
		next := b.search.Next(b.options.atOnce)
		if wrong := b.search.EndsWrong(); wrong >= 0 {
			return rounds, b.wrongEnd(wrong)
		}
		again := ""
		if len(next) == 0 {
			if next = b.search.Doubted(); len(next) == 0 {
				return rounds, nil
			}
			again = " again, since it does not always say the same"
		}
		rounds++
		b.say("round %d: the command runs in %s%s", rounds, print.Count(len(next), "workspace"), again)
		if err := b.runRound(next); err != nil {
			return rounds, err
		}
		if err := b.journal.add(event{Round: rounds}); err != nil {
			return rounds, err
		}
	}
}

// side says on which side of what is looked for a state is: with --invert the states that
// the command fails on come first.
func (b *bisector) side(state missions.CheckState) missions.CheckState {
	switch {
	case b.options.invert && state == missions.CheckGood:
		return missions.CheckBad
	case b.options.invert && state == missions.CheckBad:
		return missions.CheckGood
	}
	return state
}

// say tells the user something, from any goroutine.
func (b *bisector) say(format string, args ...any) {
	b.saying.Lock()
	defer b.saying.Unlock()
	b.c.Notice(format, args...)
}

// runRound runs the command on several states at once.
func (b *bisector) runRound(next []int) error {
	var all sync.WaitGroup
	var mu sync.Mutex // the search and the errors
	var failed []error
	for _, i := range next {
		all.Go(func() {
			check, last, err := b.try(b.points[i])
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				check.State = b.side(b.search.Set(i, b.side(check.State)))
				err = b.journal.add(event{Snapshot: b.points[i].entry.ID, Check: &check})
			}
			if err != nil {
				failed = append(failed, err)
				return
			}
			text := b.points[i].entry.Address + " " + b.verdict(check.State)
			if last != "" && check.State != missions.CheckGood {
				text += ": " + print.Clean(last)
			}
			b.say("%s", text)
		})
	}
	all.Wait()
	if b.c.Context.Err() != nil {
		return missions.Errorf(missions.KindInterrupted, "the same command goes on", "interrupted: the search is not over")
	}
	return errors.Join(failed...)
}

// verdict says what the command said of a state: that it is good or bad, or with --invert,
// where that would be read the wrong way round, that it passes or fails.
func (b *bisector) verdict(state missions.CheckState) string {
	switch {
	case state == missions.CheckUnknown:
		return "can't be judged"
	case !b.options.invert:
		return "is " + string(state)
	case state == missions.CheckGood:
		return "passes"
	}
	return "fails"
}

// wrongEnd explains why there is nothing between the ends.
func (b *bisector) wrongEnd(i int) error {
	address, flag, want := b.points[i].entry.Address, "--good", missions.CheckGood
	if i > 0 {
		flag, want = "--bad", missions.CheckBad
	}
	if b.search.Verdict(i) == missions.CheckUnknown {
		return missions.Errorf(missions.KindConflict, flag+" MOMENT names another", "whether %s %s can't be told", address, b.verdict(b.side(want)))
	}
	hint := flag + " MOMENT names another; umbra log " + b.mission.Name + " shows them"
	if b.options.invert {
		should := map[missions.CheckState]string{missions.CheckGood: "fail", missions.CheckBad: "pass"}[want]
		return missions.Errorf(missions.KindConflict, hint, "%s %s, and should %s", address, b.verdict(b.side(b.search.Verdict(i))), should)
	}
	return missions.Errorf(missions.KindConflict, hint, "%s is %s, and should be %s", address, b.search.Verdict(i), want)
}

// result describes what was found.
func (b *bisector) result(rounds int) (f found, err error) {
	f = found{Tested: []tested{}, Skipped: []suspect{}, Rounds: rounds, inverted: b.options.invert}
	for i, p := range b.points {
		check, known := b.journal.verdicts[p.entry.ID]
		switch {
		case known && check.State == missions.CheckUnknown:
			f.Skipped = append(f.Skipped, p.suspect())
		case known:
			f.Tested = append(f.Tested, tested{Snapshot: p.entry.ID, Address: b.points[i].entry.Address, Check: check})
		}
	}
	for _, i := range b.search.Unsteady() {
		f.Unsteady = append(f.Unsteady, b.points[i].suspect())
	}
	suspects := b.search.Suspects()
	if len(suspects) > 1 {
		for _, i := range suspects {
			f.Suspects = append(f.Suspects, b.points[i].suspect())
		}
		return f, nil
	}
	first := suspects[0]
	culprit := b.points[first].suspect()
	if f.before = &b.points[first-1].entry; f.inverted {
		f.FirstGood = &culprit
	} else {
		f.FirstBad = &culprit
	}
	f.change, err = b.svc.Diff(b.ctx, missions.DiffRequest{Caller: b.caller, From: f.before.ID, To: culprit.Snapshot, Patch: true})
	return f, err
}

// culprit is the state that was looked for, nil where several may be it.
func (f found) culprit() *suspect { return cmp.Or(f.FirstBad, f.FirstGood) }

// write prints it.
func (f found) write(p *print.Printer, mission string) {
	is, oneOf, odd := "is the first bad one", "the first bad one", "was bad, although a later one was good"
	if f.inverted {
		is, oneOf, odd = "mended it", "what mended it", "passed, although a later one failed"
	}
	for _, s := range f.Unsteady {
		p.Line("note: %s %s", print.Clean(s.Address), odd)
	}
	culprit := f.culprit()
	if culprit == nil {
		p.Line("%s is one of these, the others can't be judged:", oneOf)
		for _, s := range f.Suspects {
			p.Line("  %s  %s", print.Clean(s.Address), print.Clean(s.words()))
		}
		p.Line("after %s", print.Count(f.Rounds, "round"))
		return
	}
	p.Line("%s %s: %s", p.Paint(print.Yellow, print.Clean(culprit.Address)), is, p.Paint(print.Bold, print.Clean(culprit.words())))
	p.Line("found in %s, %d tested, %d skipped", print.Count(f.Rounds, "round"), len(f.Tested), len(f.Skipped))
	p.Line("")
	print.WritePatch(p, f.change.From, f.change.Files, f.change.Patch)
	p.Line("")
	before := print.Clean(f.before.Address)
	var t print.Table
	for _, row := range [][2]string{
		{"umbra show " + print.Clean(culprit.Address), "what was said"},
		{"umbra restore " + before, "back to before it"},
		{"umbra fork " + before, "another way from there"},
	} {
		t.Row(print.Plain.Cell(row[0]), print.Dim.Cell(row[1]))
	}
	t.Print(p, "  ")
}

// words are what a state was made by.
func (s suspect) words() string {
	switch {
	case s.Between:
		return "changed between turns, before turn " + fmt.Sprint(s.Turn)
	case s.Turn == 0:
		return s.label
	case strings.TrimSpace(s.Prompt) == "":
		return "turn " + fmt.Sprint(s.Turn)
	}
	return "turn " + fmt.Sprint(s.Turn) + ": " + missions.PromptLine(s.Prompt)
}
