package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// scope is what a restore puts back.
type scope int

const (
	everything scope = iota
	onlyFiles
	onlyTalk
	onlyMarked
)

// stage is how far a plan has come.
type stage int

const (
	asking stage = iota // the Service works it out
	shown               // the user decides
	doing
)

// The kinds of plans.
const (
	restorePlan = "restore"
	undoPlan    = "undo"
	redoPlan    = "redo"
	promotePlan = "promote"
)

// plan shows what a restore, an undo, a redo or a promotion would do. Nothing is done
// before enter was typed on what is shown.
type plan struct {
	kind    string
	id      int // tells its answers from those to others
	stage   stage
	entry   missions.Entry   // the moment of a restore
	mission missions.Mission // whose files and conversation change
	fork    missions.Mission // that is promoted
	scope   scope
	paths   []string // the marked ones

	choices

	result missions.RestoreResult
	said   []string // the result in words
	err    error    // why there is no plan, or why it was not done
}

// choices are what the user has chosen about what stands in the way, and whether a promotion
// moves the parent's branch.
type choices struct {
	keepOthers, all, whenIdle, force bool

	commits bool
	ahead   int // commits that the fork has and the parent's branch has not
}

// mostPlan is how many lines of a plan are shown.
const mostPlan = 1000

// planned is a plan or, once it was carried out, its outcome.
type planned struct {
	id     int
	done   bool
	result missions.RestoreResult
	ahead  int      // commits that a promotion can move the parent's branch to
	said   []string // the result in words
	err    error
}

// planRestore shows what a restore of the snapshot would do: of the marked paths,
// where there are any and the keys go to them.
func (m *model) planRestore() tea.Cmd {
	e, ok := m.list.entryAt()
	if !ok {
		return nil
	}
	p := plan{kind: restorePlan, entry: e, mission: m.at(), paths: m.details.marked}
	if m.focus == inDetails && len(p.paths) > 0 {
		p.scope = onlyMarked
	}
	return p.ask(m)
}

// planStep shows what an undo or a redo would do.
func (m *model) planStep(kind string) tea.Cmd {
	if m.at().ID == "" {
		return nil
	}
	return plan{kind: kind, mission: m.at()}.ask(m)
}

// planPromotion shows what a promotion of a fork would do.
func planPromotion(m *model, fork missions.Mission) tea.Cmd {
	p := plan{kind: promotePlan, fork: fork}
	if fork.Parent != nil {
		p.mission = m.missions.find(fork.Parent.Mission)
	}
	return p.ask(m)
}

// ask has the plan worked out, anew if it has changed.
func (p plan) ask(m *model) tea.Cmd {
	m.asked++
	p.id, p.stage, p.err = m.asked, asking, nil
	m.lay(p)
	return p.send(m, false)
}

// send asks the Service to plan, or to carry out.
func (p plan) send(m *model, carry bool) tea.Cmd {
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		answer := planned{id: p.id, done: carry}
		if p.kind == promotePlan {
			r, err := p.promote(ctx, o, !carry)
			if answer.result, answer.ahead, answer.err = r.RestoreResult, len(r.Commits), err; err == nil {
				answer.said = o.Promoted(r)
			}
			return answer
		}
		r, err := p.restore(ctx, o, !carry)
		if answer.result, answer.err = r, err; err == nil {
			answer.said = o.Plan(p.kind, r)
		}
		return answer
	}
}

// promote asks the Service for what brings the fork home.
func (p plan) promote(ctx context.Context, o Options, preview bool) (missions.PromoteResult, error) {
	return o.Service.Promote(ctx, missions.PromoteRequest{
		Caller: o.Caller, Fork: p.fork.ID, FilesOnly: p.scope == onlyFiles, ConversationOnly: p.scope == onlyTalk,
		KeepOthers: p.keepOthers && p.scope != onlyTalk, All: p.all && p.scope != onlyTalk, Preview: preview, WhenIdle: p.whenIdle, Force: p.force,
		Commits: p.commits && p.movesBranch(),
	})
}

// movesBranch reports whether the promotion can move the parent's branch to the fork's commits.
func (p plan) movesBranch() bool { return p.ahead > 0 && p.scope != onlyTalk && !p.whenIdle }

// restore asks the Service for what puts a moment back.
func (p plan) restore(ctx context.Context, o Options, preview bool) (missions.RestoreResult, error) {
	caller := o.Caller
	caller.Cwd = p.mission.Workspace // which marked paths are relative to
	step := missions.UndoRequest{Caller: caller, Mission: p.mission.ID, Preview: preview, WhenIdle: p.whenIdle, Force: p.force}
	switch p.kind {
	case undoPlan:
		return o.Service.Undo(ctx, step)
	case redoPlan:
		return o.Service.Redo(ctx, step)
	}
	r := missions.RestoreRequest{
		Caller: caller, Moment: p.entry.ID, Mission: p.mission.ID, FilesOnly: p.scope == onlyFiles, ConversationOnly: p.scope == onlyTalk,
		KeepOthers: p.keepOthers && p.scope != onlyTalk, All: p.all && p.scope != onlyTalk, Preview: preview, WhenIdle: p.whenIdle, Force: p.force,
	}
	if p.scope == onlyMarked {
		r.Paths = p.paths
	}
	return o.Service.Restore(ctx, r)
}

// take takes a plan or an outcome.
func (msg planned) take(m *model) tea.Cmd {
	p, ok := m.overlay.(plan)
	if !ok || p.id != msg.id {
		return nil
	}
	p.stage, p.err = shown, msg.err
	if msg.err == nil {
		p.result, p.said, p.ahead = msg.result, msg.said, msg.ahead
	}
	if p.kind == promotePlan && p.said == nil { // it can't be at all
		m.overlay = nil
		m.fail(msg.err)
		return nil
	}
	switch m.lay(p); {
	case !msg.done:
		return nil
	case msg.err == nil:
		m.tell(p.said)
	}
	return m.askMissions(false)
}

func (p plan) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	switch {
	case p.stage == doing:
		return nil // it is not left half done
	case m.scrollOver(key):
		return nil
	case key == "esc", key == "q":
		m.overlay = nil
		return nil
	case p.stage == shown && key == "enter":
		return p.enter(m)
	}
	if changed, ok := p.choose(key); ok {
		return changed.ask(m)
	}
	return nil
}

// enter carries out what is shown, if nothing stands in its way.
func (p plan) enter(m *model) tea.Cmd {
	switch {
	case p.err != nil:
		return p.ask(m) // what is shown is not how it is any more
	case len(p.result.Refused) > 0:
		m.say("something stands in the way of this")
		m.problem = true
		return nil
	case p.nothing():
		m.overlay = nil
		m.say("there is nothing to change: nothing was done")
		return nil
	}
	p.stage = doing
	m.overlay = p
	return p.send(m, true)
}

// nothing reports whether the plan changes nothing.
func (p plan) nothing() bool {
	r := p.result
	return r.Target != "" && len(r.Modify)+len(r.Create)+len(r.Delete) == 0 && r.Handover == nil && !(p.commits && p.movesBranch())
}

// choose takes a key that makes it another plan.
func (p plan) choose(key string) (plan, bool) {
	scopes := 3
	if len(p.paths) > 0 {
		scopes++
	}
	switch {
	case p.hasScope() && (key == "tab" || key == "right" || key == "l"):
		p.scope = (p.scope + 1) % scope(scopes)
	case p.hasScope() && (key == "shift+tab" || key == "left" || key == "h"):
		p.scope = (p.scope + scope(scopes) - 1) % scope(scopes)
	case key == "o" && p.contested():
		p.keepOthers, p.all = !p.keepOthers, false
	case key == "a" && p.contested():
		p.all, p.keepOthers = !p.all, false
	case key == "w" && p.busy():
		p.whenIdle, p.force = !p.whenIdle, false
	case key == "F" && p.forcible():
		p.force, p.whenIdle = !p.force, false
	case key == "c" && p.movesBranch():
		p.commits = !p.commits
	default:
		return p, false
	}
	return p, true
}

// hasScope reports whether the user chooses how much of a moment is put back.
func (p plan) hasScope() bool { return p.kind == restorePlan || p.kind == promotePlan }

// contested reports whether others changed what is to be restored.
func (p plan) contested() bool { return len(p.result.Foreign) > 0 }

// busy reports whether the mission's agent is in a turn that can be waited for.
func (p plan) busy() bool {
	return p.mission.State == missions.StateRunning || p.mission.State == missions.StateWaiting
}

// forcible reports whether something refuses it that can be passed over: all but
// the question of whose changes count.
func (p plan) forcible() bool {
	n := len(p.result.Refused)
	if p.contested() && !p.keepOthers && !p.all {
		n--
	}
	return p.force || n > 0
}

func (p plan) lines(m *model, width int) []line {
	lines := []line{{{p.kind + " of " + m.o.Clean(p.mission.Name), bold}}}
	if p.kind == promotePlan {
		lines[0] = line{{"promote " + m.o.Clean(p.fork.Name) + " into " + m.o.Clean(p.mission.Name), bold}}
		lines = append(lines, p.scopeLines("take over:", width)...)
	}
	if p.kind == restorePlan {
		lines[0] = line{{"restore " + m.o.Clean(p.mission.Name) + " to " + m.o.Clean(p.entry.Address), bold}}
		lines = append(lines, line{{m.o.clock(p.entry.At) + "  " + m.o.Clean(p.entry.Words()), dim}})
		lines = append(lines, p.scopeLines("put back:", width)...)
	}
	if chosen := p.chosen(); chosen != "" {
		lines = append(lines, line{{"with " + chosen, yellow}})
	}
	lines = append(lines, line{})
	if p.err != nil {
		lines = append(lines, errorLines(p.err, width, m.o.Clean)...)
	}
	if p.stage == asking {
		return append(lines, line{{"reading …", dim}})
	}
	for _, text := range p.said[:min(len(p.said), mostPlan)] {
		lines = append(lines, wrapped(text, width, plain)...)
	}
	if more := len(p.said) - mostPlan; more > 0 {
		lines = append(lines, line{{fmt.Sprintf("… and %d more lines; umbra %s --preview shows them", more, p.kind), dim}})
	}
	switch p.stage {
	case shown:
		lines = append(lines, p.offers()...)
	case doing:
		lines = append(lines, line{}, line{{"working …", bold}})
	}
	return lines
}

// offers are the keys by which it goes on all the same.
func (p plan) offers() []line {
	lines := []line{{}}
	add := func(offered bool, key, text string) {
		if offered {
			lines = append(lines, line{{key, bold}, {"  " + text, plain}})
		}
	}
	if p.kind == promotePlan {
		add(p.contested(), "o", "keeps what the parent has in what both changed")
		add(p.contested(), "a", "takes what the fork has there")
		add(p.movesBranch(), "c", fmt.Sprintf("moves the parent's branch to the fork's commits (%d), or not", p.ahead))
	} else {
		add(p.contested(), "o", "keeps what others changed as it is")
		add(p.contested(), "a", "puts these back too")
	}
	add(p.busy(), "w", "waits for the end of the agent's turn")
	add(p.forcible(), "F", "does it all the same, as --force does")
	if len(lines) == 1 {
		return nil
	}
	return lines
}

// scopeLines offer how much of the moment is meant: beside each other where there is room.
func (p plan) scopeLines(label string, width int) []line {
	names := []string{"files and conversation", "files", "conversation"}
	if n := len(p.paths); n > 0 {
		names = append(names, fmt.Sprintf("marked paths (%d)", n))
	}
	row := line{{label, dim}}
	lines, used := []line{row}, len(label)
	for i, name := range names {
		s := span{"  " + name + " ", plain}
		if scope(i) == p.scope {
			s = span{" [" + name + "]", bold}
		}
		row, used = append(row, s), used+len(s.text)
		lines = append(lines, line{s})
	}
	if used <= width {
		return []line{row}
	}
	return lines
}

// chosen says what was chosen about what stood in the way.
func (p plan) chosen() string {
	keep, all := "others' changes kept as they are", "others' changes put back too"
	if p.kind == promotePlan {
		keep, all = "the parent's side kept", "the fork's side taken"
	}
	var words []string
	for word, is := range map[string]bool{keep: p.keepOthers, all: p.all, "force": p.force, "the parent's branch moved": p.commits && p.movesBranch(), "at the end of the agent's turn": p.whenIdle} {
		if is {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func (p plan) keys(*model) string {
	switch p.stage {
	case asking:
		return "esc goes back"
	case doing:
		return "it is being done"
	}
	enter := "enter does it  "
	switch {
	case p.err != nil:
		enter = "enter plans it again  "
	case len(p.result.Refused) > 0:
		enter = ""
	}
	if p.hasScope() {
		enter += "tab files, conversation or both  "
	}
	return enter + "esc goes back"
}
