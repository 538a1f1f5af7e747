package call

import (
	"context"
	"os/exec"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

// gitHabits are what the user's Git is told of long text, as far as it is asked for
// here: git-config(1), core.pager, pager.<cmd>, color.diff and color.ui.
type gitHabits struct {
	pager   string // "" where it is left to the environment
	unpaged bool
	color   string // always, never, or "" for where it is read
}

// noPager is the pager that is none, for Git too.
const noPager = "cat"

// gitHabits asks Git on a terminal alone, where somebody reads; without Git, or what
// it is told, there are none.
func (c *Call) gitHabits(command string) (h gitHabits) {
	if !c.Out.Terminal {
		return h
	}
	program, err := missions.LookPath("git", "", c.Getenv("PATH"))
	if err != nil {
		return h
	}
	return habitsIn(c.Context, program, c.Environ(), command)
}

// habitsIn asks for what counts in all of the user's repositories. A repository's own
// configuration, which an agent may write, names no program that is run here.
func habitsIn(ctx context.Context, program string, environ []string, command string) (h gitHabits) {
	cmd := exec.CommandContext(ctx, program, "config", "--null", "--get-regexp", `^(core\.pager|pager\.`+command+`|color\.(ui|diff))$`)
	cmd.Dir = "/"
	cmd.Env = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_DIR=") || strings.HasPrefix(kv, "GIT_COMMON_DIR=") || strings.HasPrefix(kv, "GIT_WORK_TREE=")
	})
	said, err := cmd.Output()
	if err != nil {
		return h // nothing is set, or it is broken, of which Git itself complains
	}
	return habitsOf(string(said), "pager."+command)
}

// habitsOf reads what `git config --null` says: a key, and behind a line's end its
// value, if it has one. The last of a key counts.
func habitsOf(said, own string) (h gitHabits) {
	set := map[string]string{}
	for entry := range strings.SplitSeq(said, "\x00") {
		key, value, valued := strings.Cut(entry, "\n")
		if !valued {
			value = "true"
		}
		set[key] = value
	}
	h.pager = set["core.pager"]
	if _, is := set["core.pager"]; is && h.pager == "" {
		h.pager = noPager // as for Git, whatever PAGER says
	}
	if value, is := set[own]; is {
		switch on, known := gitBool(value); {
		case !known:
			h.pager = value
		case !on:
			h.unpaged = true
		}
	}
	color, is := set["color.diff"]
	if !is {
		color, is = set["color.ui"]
	}
	switch on, known := gitBool(color); {
	case color == "always":
		h.color = color
	case is && (color == "never" || known && !on):
		h.color = "never"
	}
	return h
}

// gitBool is a value as Git takes it for a truth.
func gitBool(value string) (on, known bool) {
	value = strings.ToLower(value)
	on = slices.Contains([]string{"true", "yes", "on", "1"}, value)
	return on, on || slices.Contains([]string{"false", "no", "off", "0", ""}, value)
}

// heedColor takes what Git is told of colour, where nothing that is Umbra's own says it.
func (c *Call) heedColor(h gitHabits) {
	if c.Color != "auto" || c.Getenv("NO_COLOR") != "" {
		return
	}
	switch h.color {
	case "never":
		c.Out.Color = false
	case "always":
		c.Out.Color = true
		c.Out.Palette = highlight.PaletteOf(c.Getenv)
	}
}
