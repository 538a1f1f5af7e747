package missions

import (
	"slices"
	"time"
)

// ForkRequest asks for missions that begin where another is, or was.
type ForkRequest struct {
	Caller Caller `json:"caller"`
	From   string `json:"from"` // mission or moment; "" is the default mission now
	// Session and Message name the moment instead of From: a message's id, as the agent's
	// own file has it, and that file, or its session's id.
	Session   string   `json:"session,omitempty"`
	Message   string   `json:"message,omitempty"`
	InPlace   bool     `json:"-"` // without a workspace: the fork is to have its parent's for a while
	ID        string   `json:"-"` // of one fork, where a room of this process has noted it before; "" makes one
	Name      string   `json:"name,omitempty"`
	NameTyped bool     `json:"name_typed,omitempty"` // Name was typed, and is made of no other mission's
	Count     int      `json:"count"`                // 0 is one, named without a number
	Workspace string   `json:"workspace,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Prompts   []string `json:"prompts,omitempty"` // instead: Count forks for each of them
	Again     bool     `json:"again,omitempty"`
	Command   []string `json:"command,omitempty"`
	Agent     string   `json:"agent,omitempty"` // another one, with its own program
	// FilesAlone leaves the conversation with the source, also where Agent is the same.
	FilesAlone bool          `json:"files_alone,omitempty"`
	Model      string        `json:"model,omitempty"`    // that the agent is to use, "" as the source's command says
	Variants   []ForkVariant `json:"variants,omitempty"` // instead of Agent and Model: the forks once for each of them
	Contest    *Contest      `json:"contest,omitempty"`  // that the forks are of
	Headless   bool          `json:"headless,omitempty"` // the agents are to be launched without a terminal
	EnvNames   []string      `json:"env_names,omitempty"`
	Ignored    string        `json:"ignored,omitempty"` // copy (default) or skip
	Config     string        `json:"config,omitempty"`  // of the agent: source (default), now, or a version's id
	NoWait     bool          `json:"no_wait,omitempty"`
	Timeout    time.Duration `json:"timeout,omitempty"` // of waiting for idle; 0 is 5 minutes
	Launching  bool          `json:"launching"`
	// Scratch is the id of the mission for which umbra bisect searches: the fork is a workspace of
	// that search, and goes for good with it.
	Scratch string `json:"scratch,omitempty"`
	Yes     bool   `json:"yes,omitempty"` // copy ignored files above the limit
	Force   bool   `json:"force,omitempty"`
}

// SearchCheck is what says of a check that it runs for umbra bisect, in a search for a mission.
func SearchCheck(mission string) string { return "bisect-" + mission }

// Check reports what contradicts itself in a request, or is missing.
func (r ForkRequest) Check() error {
	usage := func(hint, format string, args ...any) error { return Errorf(KindUsage, hint, format, args...) }
	switch {
	case (r.Session == "") != (r.Message == ""):
		return usage("umbra fork --session FILE --at ID", "a message is named by its session's file and its own id")
	case r.Session != "" && r.From != "":
		return usage("choose one", "the moment is named twice: by %s and by a message", r.From)
	case r.Count < 0 || r.Count > 100:
		return usage("give a number from 1 to 100", "--count %d makes no sense", r.Count)
	case (r.Count > 0 || len(r.Prompts) > 1) && r.Workspace != "":
		return usage("leave out --workspace", "%d forks can't share one workspace", max(1, r.Count)*max(1, len(r.Prompts)))
	case len(r.Prompts) > 0 && (r.Prompt != "" || r.Again):
		return usage("give each fork one prompt", "the prompts of the forks contradict each other")
	case slices.Contains(r.Prompts, ""):
		return usage("give each fork a prompt that says something", "a prompt of the forks is empty")
	case r.NumForks() > 100:
		return usage("make 100 at a time", "%d forks are too many", r.NumForks())
	case r.Prompt != "" && r.Again:
		return usage("choose one", "--prompt and --again contradict each other")
	case r.Ignored != "" && r.Ignored != "copy" && r.Ignored != "skip":
		return usage("use copy or skip", "--ignored %s", r.Ignored)
	case r.Name == "":
		return nil
	}
	return CheckName(r.Name)
}

// NumForks is how many forks are asked for.
func (r ForkRequest) NumForks() int {
	return max(1, r.Count) * max(1, len(r.Prompts)) * len(r.AllVariants())
}

// AllVariants are who goes on in the forks, once for each.
func (r ForkRequest) AllVariants() []ForkVariant {
	if len(r.Variants) == 0 {
		return []ForkVariant{{Agent: r.Agent, Model: r.Model}}
	}
	return r.Variants
}

// ForkVariant is who goes on in a fork; "" is as in the source.
type ForkVariant struct {
	Agent string `json:"agent,omitempty"`
	Model string `json:"model,omitempty"`
}

// Contest is what forks of one moment have in common that are held against each other.
// Each fork's record has it, from the moment that the fork is there.
type Contest struct {
	ID      string        `json:"id"`
	Check   string        `json:"check,omitempty"`   // the user's command that says whether a workspace is good
	Timeout time.Duration `json:"timeout,omitempty"` // of each agent; 0: none
}

// ForkResult is what a fork made.
type ForkResult struct {
	Missions []Mission    `json:"missions"`
	Source   Entry        `json:"source"`              // the snapshot it forked from
	LeftOut  []PathReason `json:"left,omitempty"`      // what could not come along, with reasons
	PointsIn []string     `json:"points_in,omitempty"` // ignored files that point back into the source
	Notes    []string     `json:"notes,omitempty"`
	// Fallback says that the commit of that moment is gone or not known: the fork's branch
	// starts at an ancestor of it.
	Fallback bool `json:"fallback,omitempty"`
}
