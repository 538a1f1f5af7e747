package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/umbra-vcs/umbra/missions"
)

// adder adds a tool to what a server offers.
type adder func(*server, *sdk.Server)

// tools are all that there are, in the order in which an agent reads of them.
func tools() []adder {
	return []adder{
		reading("missions", "List the missions of this project and their states, forks below the missions they were made from. (umbra mission ls)", listMissions),
		reading("timeline", "List a mission's snapshots by turn, newest first: address, time, what changed, and the prompt of each turn. "+
			"Use it to find the moment that the other tools are to be given. (umbra log)", listSnapshots),
		reading("show", "Show one moment: its prompt, what was said in its turn, and what changed since the snapshot before. (umbra show)", showMoment),
		reading("cat", "Read a file as it was at a moment, also one that was deleted since. (umbra cat)", readFile),
		reading("search", "Find the moments at which something was said or done, newest first, in every mission of your user's: prompts, answers, "+
			"tool calls with their commands and exit codes, messages of snapshots, names of files. (umbra search)", search),
		reading("diff", "Compare two moments of a mission, or of two missions such as forks of each other, or a moment with the files as they are now. (umbra diff)", diff),
		adding("compare", "Hold forks beside each other: turns, time, tokens, files and lines of each since it was forked, and which files several have changed. "+
			"A snapshot of each is taken for that. Which of them is good, your own look at their files says. (umbra compare)", compareForks),
		reading("wait", "Wait until the agents of forks have ended that run_fork began. (umbra mission wait --state closed)", waitFor),
		reading("fork_output", "Read what the agent of a fork in the background has printed so far: its answer, once it has ended. (umbra mission output)", readOutput),
		reading("updates", "List what a mission's agent was told by its forks, or is still to be told with its next prompt. (umbra updates)", listUpdates),
		adding("snapshot", "Keep the files as they are now, and the conversation so far, before you do something risky. "+
			"Prints its id, which restore, diff, show and run_fork take as a moment. (umbra snapshot)", takeSnapshot),
		adding("report_updates", "From a fork: tell the agent of the mission that you were forked from what you have found. It is given the message with its next prompt, once. "+
			"Say in it all that the parent needs, since it has seen nothing of your work. "+
			"A side fork is left then, when this turn has ended: stop then. (umbra fork report)", report),
		adding("enter_fork", "Try something aside: when this turn has ended, a fork of you goes on in your terminal, with your conversation up to here and a copy of the files. "+
			"You are parked, as you are now, until the fork is left by exit_fork, report_updates or save_context. "+
			"Stop after this call; what is to be tried goes into topic, for your fork to begin with. "+
			"If nobody is at the fork for idle_timeout minutes and then as long again, it ends by itself and reports. "+
			"If your user has started you without Umbra, you go on yourself: the answer says where the fork is. Not within a side fork. (umbra fork enter)", enterFork),
		adding("exit_fork", "From a side fork that enter_fork has made: leave it, when this turn has ended. The mission that you were forked from goes on in this terminal "+
			"and knows nothing of your work, of which all is kept. Stop after this call. (umbra fork exit)", exitFork),
		forking("fork", "Make a copy of a mission, files and conversation, in a workspace of its own, and start no agent in it. "+
			"Without a moment it is you, as you are now. Your user starts it by: umbra mission resume NAME. (umbra fork)", fork),
		forking("run_fork", "Make copies of yourself that each answer a prompt in the background, in a workspace of its own, with your conversation up to here. "+
			"Nothing of yours changes. It returns at once, with the forks' names: wait waits for them, fork_output and diff show what they did, promote takes one over; "+
			"each also reports its last answer to you, with your next prompt. (umbra fork run)", runFork),
		asking("restore", "Put files and conversation back as they were at a moment. Shows your user the plan and asks; where your user can't be asked, it only returns the plan. "+
			"Of your own mission it is done when this turn has ended: stop then. (umbra restore)", restore),
		asking("save_context", "From a side fork that enter_fork has made: make your files and your conversation those of the mission that you were forked from, and leave the fork, "+
			"when this turn has ended: stop then. Shows your user the plan and asks; where your user can't be asked, it only returns the plan. (umbra promote)", saveContext),
		asking("promote", "Make a fork's files and conversation those of the mission that it was forked from. Shows your user the plan and asks; "+
			"where your user can't be asked, it only returns the plan. (umbra promote)", promote),
	}
}

type missionsInput struct {
	All bool `json:"all,omitempty" jsonschema:"those of every project on this machine, too"`
}

func listMissions(in missionsInput) (line, error) {
	return command("mission", "ls", "--tree").when(in.All, "--all"), nil
}

type timelineInput struct {
	Mission string `json:"mission,omitempty" jsonschema:"name of the mission; without it your own"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many snapshots at most; 30 if it is left out"`
	Path    string `json:"path,omitempty" jsonschema:"only snapshots that changed this file or directory"`
	Match   string `json:"match,omitempty" jsonschema:"only snapshots whose message, such as a prompt, matches this regular expression"`
	Since   string `json:"since,omitempty" jsonschema:"only snapshots that are not older, such as 10m, 2h, 3d or 2026-01-31"`
}

func listSnapshots(in timelineInput) (line, error) {
	const most = 30
	if in.Limit <= 0 {
		in.Limit = most
	}
	l := command("log").with("n", strconv.Itoa(in.Limit)).with("path", in.Path).with("grep", in.Match).with("since", in.Since)
	return l.then(in.Mission), notFlags(in.Mission)
}

type showInput struct {
	Moment string `json:"moment" jsonschema:"the moment, such as login@3 or login@3.0, or the name of a mission for its newest"`
	Patch  bool   `json:"patch,omitempty" jsonschema:"the changed lines, too"`
}

func showMoment(in showInput) (line, error) {
	return command("show").when(!in.Patch, "--stat").then(in.Moment), notFlags(in.Moment)
}

type catInput struct {
	Moment string `json:"moment" jsonschema:"the moment, such as login@3 or login@3.0"`
	Path   string `json:"path" jsonschema:"the file, relative to your working directory"`
}

func readFile(in catInput) (line, error) {
	if strings.HasPrefix(in.Path, "-") {
		in.Path = "./" + in.Path
	}
	return command("cat").then(in.Moment, in.Path), notFlags(in.Moment)
}

type searchInput struct {
	Query   string `json:"query" jsonschema:"words, all of which are to be in one message, call or name, or a text in double quotes that is to be there as it is"`
	Mission string `json:"mission,omitempty" jsonschema:"only what was said and done in this mission"`
	In      string `json:"in,omitempty" jsonschema:"only in these, with commas: prompts, answers, tools, commands, output (of tool calls), messages, paths, files (as they ever were)"`
	Since   string `json:"since,omitempty" jsonschema:"only what is not older, such as 10m, 2h, 3d or 2026-01-31"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many moments at most; 30 if it is left out"`
}

// search gives the query a blank in front, so that it is taken for no flag.
func search(in searchInput) (line, error) {
	if in.Limit <= 0 {
		in.Limit = 30
	}
	l := command("search").with("n", strconv.Itoa(in.Limit)).with("mission", in.Mission).with("in", in.In).with("since", in.Since)
	return l.then(" " + in.Query), nil
}

type diffInput struct {
	From  string   `json:"from,omitempty" jsonschema:"the moment to compare from, such as login@3; without it, that before your user's last prompt"`
	To    string   `json:"to,omitempty" jsonschema:"the moment to compare with, such as login@5 or the name of a fork; without it, the files as they are now"`
	Paths []string `json:"paths,omitempty" jsonschema:"only these files and directories"`
	Stat  bool     `json:"stat,omitempty" jsonschema:"only which files differ and by how many lines"`
}

func diff(in diffInput) (line, error) {
	if in.From == "" && in.To != "" {
		return line{}, missions.Errorf(missions.KindUsage, "timeline lists moments", "from is missing: name both moments")
	}
	return command("diff").when(in.Stat, "--stat").then(in.From, in.To).after(in.Paths), notFlags(in.From, in.To)
}

type compareInput struct {
	Forks []string `json:"forks" jsonschema:"names of the forks"`
	Diff  bool     `json:"diff,omitempty" jsonschema:"the changed lines too, file by file, each fork's below the other's"`
}

// compareForks runs no check: that is a command for the shell, and an agent may have been
// given none.
func compareForks(in compareInput) (line, error) {
	return command("compare").when(in.Diff, "--diff").when(!in.Diff, "--json").then(in.Forks...), notFlags(in.Forks...)
}

type waitInput struct {
	Forks   []string `json:"forks" jsonschema:"names of the forks"`
	Any     bool     `json:"any,omitempty" jsonschema:"one of them is enough"`
	Seconds int      `json:"seconds,omitempty" jsonschema:"wait no longer than this; 45 if it is left out"`
}

// shortWait is how long an agent is kept waiting unless it asks for more: some end a
// tool's call after a minute.
const shortWait = 45 * time.Second

func waitFor(in waitInput) (line, error) {
	if len(in.Forks) == 0 {
		return line{}, missions.Errorf(missions.KindUsage, "missions lists them", "forks is empty")
	}
	if err := noLess("seconds", in.Seconds, 0, "say how many, or leave it out"); err != nil {
		return line{}, err
	}
	wait := shortWait
	if in.Seconds > 0 {
		wait = time.Duration(in.Seconds) * time.Second
	}
	return command("mission", "wait", "--state=closed").when(in.Any, "--any").with("timeout", wait.String()).then(in.Forks...), notFlags(in.Forks...)
}

type outputInput struct {
	Fork string `json:"fork" jsonschema:"name of the fork"`
}

func readOutput(in outputInput) (line, error) {
	return command("mission", "output").then(in.Fork), notFlags(in.Fork)
}

type updatesInput struct {
	Mission string `json:"mission,omitempty" jsonschema:"name of the mission; without it your own"`
	All     bool   `json:"all,omitempty" jsonschema:"those that were delivered, too"`
}

func listUpdates(in updatesInput) (line, error) {
	return command("updates").when(in.All, "--all").then(in.Mission), notFlags(in.Mission)
}

type snapshotInput struct {
	Message string `json:"message,omitempty" jsonschema:"what it is, in a few words"`
	Pin     string `json:"pin,omitempty" jsonschema:"a name that keeps it from being pruned and by which it is found again"`
}

func takeSnapshot(in snapshotInput) (line, error) {
	return command("snapshot").with("message", in.Message).with("pin", in.Pin), nil
}

type reportInput struct {
	Message string `json:"message" jsonschema:"what the parent is to know"`
	Fork    string `json:"fork,omitempty" jsonschema:"name of the fork that reports; without it your own mission"`
	Stay    bool   `json:"stay,omitempty" jsonschema:"go on in the side fork after this turn, too"`
}

func report(in reportInput) (line, error) {
	if strings.TrimSpace(in.Message) == "" {
		return line{}, missions.Errorf(missions.KindUsage, "say in it what the parent is to know", "message is empty")
	}
	l := command("fork", "report").when(in.Stay, "--stay").then(in.Fork, "-")
	l.stdin = in.Message
	return l, notFlags(in.Fork)
}

type enterInput struct {
	Topic       string `json:"topic,omitempty" jsonschema:"the first prompt of the fork's agent; without it your user types one"`
	Moment      string `json:"moment,omitempty" jsonschema:"a past moment of yours to fork, such as login@3; without it, you as you are when this turn has ended"`
	InPlace     bool   `json:"in_place,omitempty" jsonschema:"have the fork work in your own workspace, not in a copy: for one that is very large. Your files are put back when it is left"`
	IdleTimeout int    `json:"idle_timeout,omitempty" jsonschema:"after how many minutes in which nobody is at the fork its user is asked, and after how many more it ends and reports to you what came of it; 10 if it is left out, -1 for never"`
}

// enterFork ends a fork that nobody is at: an agent may enter one while its user is away.
func enterFork(in enterInput) (line, error) {
	if err := noLess("idle_timeout", in.IdleTimeout, -1, "say after how many minutes, or -1 for never"); err != nil {
		return line{}, err
	}
	l := command("fork", "enter").with("topic", in.Topic).when(in.InPlace, "--in-place")
	if minutes := cmp.Or(in.IdleTimeout, 10); minutes > 0 {
		l = l.with("idle-timeout", (time.Duration(minutes) * time.Minute).String())
	}
	return l.then(in.Moment), notFlags(in.Moment)
}

func exitFork(struct{}) (line, error) { return command("fork", "exit"), nil }

type forkInput struct {
	Moment string `json:"moment,omitempty" jsonschema:"the moment to fork, such as login@3; without it, you as you are now"`
	Name   string `json:"name,omitempty" jsonschema:"what to call the fork"`
	Prompt string `json:"prompt,omitempty" jsonschema:"the first prompt of its agent, once your user starts it"`
}

func (in forkInput) from() string { return in.Moment }

func (in forkInput) check() error {
	return missions.ForkRequest{Name: in.Name, Prompt: in.Prompt}.Check()
}

func fork(in forkInput) line {
	return command("fork", "--no-launch").with("name", in.Name).with("prompt", in.Prompt).with("wait-timeout", shortWait.String())
}

type runForkInput struct {
	Prompts []string `json:"prompts" jsonschema:"what each fork is to do: one fork for each prompt"`
	Moment  string   `json:"moment,omitempty" jsonschema:"the moment to fork, such as login@3; without it, you as you are now"`
	Name    string   `json:"name,omitempty" jsonschema:"what to call the forks; they are numbered if they are several"`
	Agent   string   `json:"agent,omitempty" jsonschema:"another agent than you, with the files alone: claude, codex, gemini, opencode, pi, copilot or qwen"`
	Model   string   `json:"model,omitempty" jsonschema:"the model that they are to use"`
	Minutes int      `json:"minutes,omitempty" jsonschema:"end a fork's agent after this time"`
}

func (in runForkInput) from() string { return in.Moment }

func (in runForkInput) check() error {
	if len(in.Prompts) == 0 {
		return missions.Errorf(missions.KindUsage, "give a prompt for each fork", "prompts is empty")
	}
	return errors.Join(
		oneOf("agent", in.Agent, "claude", "codex", "gemini", "opencode", "pi", "copilot", "qwen"),
		noLess("minutes", in.Minutes, 0, "say after how many, or leave it out"),
		missions.ForkRequest{Name: in.Name, Prompts: in.Prompts, Agent: in.Agent, Model: in.Model}.Check(),
	)
}

func runFork(in runForkInput) line {
	l := command("fork", "run", "--detach").with("name", in.Name).with("agent", in.Agent).with("model", in.Model).with("wait-timeout", shortWait.String())
	for _, p := range in.Prompts {
		l = l.with("prompt", p)
	}
	if in.Minutes > 0 {
		l = l.with("timeout", (time.Duration(in.Minutes) * time.Minute).String())
	}
	return l
}

// noLess refuses a number that nothing is meant by.
func noLess(name string, n, least int, hint string) error {
	if n >= least {
		return nil
	}
	return missions.Errorf(missions.KindUsage, hint, "%s is %d", name, n)
}

// reading is a tool that changes nothing.
func reading[In any](name, about string, line func(In) (line, error)) adder {
	return tool(name, about, &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, line)
}

// adding is a tool that adds something and changes nothing that is there.
func adding[In any](name, about string, line func(In) (line, error)) adder {
	return tool(name, about, additive(), line)
}

func additive() *sdk.ToolAnnotations { return &sdk.ToolAnnotations{DestructiveHint: new(bool)} }

// tool is one that runs a command line as the mission of the agent that calls it.
func tool[In any](name, about string, hints *sdk.ToolAnnotations, line func(In) (line, error)) adder {
	return func(s *server, to *sdk.Server) {
		add(to, name, about, hints, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, error) {
			l, err := line(in)
			if err != nil {
				return nil, err
			}
			self, err := s.self(ctx)
			if err != nil {
				return nil, err
			}
			return said(s.run(ctx, idOf(self), l)), nil
		})
	}
}

// forking is a tool that forks a moment. The agent that calls it is in a turn, for whose
// end a fork of now would wait: what is forked then is a snapshot that is taken first.
func forking[In interface {
	from() string
	check() error
}](name, about string, line func(In) line) adder {
	return func(s *server, to *sdk.Server) {
		add(to, name, about, additive(), func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, error) {
			from := in.from()
			if err := cmp.Or(notFlags(from), in.check()); err != nil {
				return nil, err // before a snapshot is there
			}
			self, err := s.self(ctx)
			if err != nil {
				return nil, err
			}
			if from == "" || self != nil && (from == self.Name || from == self.ID) {
				taken := s.run(ctx, idOf(self), command("snapshot", "--json").with("message", "before "+name))
				var entry missions.Entry
				if taken.code != 0 || json.Unmarshal(taken.out.buffer.Bytes(), &entry) != nil {
					taken.out = kept{}
					return said(taken), nil
				}
				from = entry.Address
			}
			return said(s.run(ctx, idOf(self), line(in).then(from))), nil
		})
	}
}

func add[In any](to *sdk.Server, name, about string, hints *sdk.ToolAnnotations, do func(context.Context, *sdk.CallToolRequest, In) (*sdk.CallToolResult, error)) {
	hints.OpenWorldHint = new(bool)
	sdk.AddTool(to, &sdk.Tool{Name: name, Description: about, Annotations: hints, InputSchema: schemaOf[In]()},
		func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			result, err := do(ctx, r, in)
			if err != nil {
				result = failure(err)
			}
			return result, nil, nil
		})
}

// oneOf refuses a value that is none of some. Without one it is left out: models fill what
// they do not need with "".
func oneOf(name, value string, values ...string) error {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return missions.Errorf(missions.KindUsage, "say "+strings.Join(values, " or ")+", or leave it out", "%s is %q", name, value)
}

// schemaOf describes the input of a tool. A list is never null in it: not every agent's
// model takes a property of two types.
func schemaOf[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return nil // AddTool makes it again, and says what is wrong with it
	}
	for field := range reflect.TypeFor[In]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		p := schema.Properties[name]
		if len(p.Types) == 2 && p.Items != nil {
			p.Type, p.Types = "array", nil
		}
	}
	return schema
}

func idOf(m *missions.Mission) string {
	if m == nil {
		return ""
	}
	return m.ID
}

// said is what the agent reads of a command line that was run.
func said(o outcome) *sdk.CallToolResult {
	r := text(o.text())
	r.IsError = o.failed()
	return r
}

func text(t string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
}

// failure is an error as the agent reads it.
func failure(err error) *sdk.CallToolResult { return refusal(inWords(missions.AsError(err))) }

// refusal says why a tool did not do what it was asked to.
func refusal(why string) *sdk.CallToolResult {
	r := text(cut(why))
	r.IsError = true
	return r
}

// inWords is an error as the command line puts it.
func inWords(e *missions.Error) string {
	words := "umbra: " + e.Message
	if e.Hint != "" {
		words += "\n  " + e.Hint
	}
	return words
}
