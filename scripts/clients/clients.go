// Package clients puts pinned versions of real agents, from the npm registry,
// into a cache folder, and gives tests the hermetic environment to run them in.
// It owns that folder, ${UMBRA_CHECK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/umbra-check},
// which is kept between runs and may be deleted at any time; it knows nothing of
// Umbra, and starts no model server (standin does).
package clients

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// Versions of Claude Code that are pinned: what most people run, the one that npm
// chooses for an older node, and one from before sessions were written as they are
// now, of which there are fixtures alone.
const (
	ClaudeCurrent = "2.1.329"
	ClaudeMiddle  = "2.1.197"
	ClaudeOlder   = "2.0.77"
)

// CodexCurrent is the version of Codex that tests name.
const CodexCurrent = "0.169.0"

// GeminiCurrent is the version of Gemini CLI that tests name.
const GeminiCurrent = "0.61.0"

// OpenCodeCurrent is the version of OpenCode that tests name.
const OpenCodeCurrent = "1.18.33"

// PiCurrent is the version of pi that tests name.
const PiCurrent = "1.5.2"

// CopilotCurrent is the version of Copilot CLI that tests name.
const CopilotCurrent = "1.0.102"

// QwenCurrent is the version of Qwen Code that tests name.
const QwenCurrent = "0.24.4"

// A Client is one installed version of an agent.
type Client struct {
	Agent   string // "claude", "codex", "gemini", "opencode", "pi", "copilot", "qwen"
	Version string
	Path    string // the program, absolute; its name is the agent's
}

// pin is one version that may be installed. Always exact: npm would take the
// newest whose engines fit this node, which is not the newest there is.
type pin struct {
	agent   string
	version string
	pkg     string
	after   string // the script of the package that places its program, run by node

	also      []string // packages beside it
	overrides string   // of npm's, as JSON: what the package wants and need not have

	untested bool // the gate does not run it: scripts/clients/record does
}

func pins() []pin {
	const claude = "@anthropic-ai/claude-code"
	return []pin{
		{agent: "claude", version: ClaudeCurrent, pkg: claude, after: "install.cjs"},
		{agent: "claude", version: ClaudeMiddle, pkg: claude, after: "install.cjs"},
		{agent: "claude", version: ClaudeOlder, pkg: claude, untested: true},
		{agent: "codex", version: CodexCurrent, pkg: "@openai/codex"},
		{agent: "gemini", version: GeminiCurrent, pkg: "@google/gemini-cli"},
		{agent: "opencode", version: OpenCodeCurrent, pkg: "opencode-ai", after: "postinstall.mjs"},
		{
			agent: "pi", version: PiCurrent, pkg: "@earendil-works/pi-coding-agent",
			also:      []string{nodePackage()},                                 // older ones don't run it
			overrides: `{"marked-cjk-friendly":"npm:empty-npm-package@1.0.0"}`, // not on every registry, and for Chinese prose only
		},
		{agent: "copilot", version: CopilotCurrent, pkg: "@github/copilot"},
		{agent: "qwen", version: QwenCurrent, pkg: "@qwen-code/qwen-code", also: []string{nodePackage()}},
	}
}

// nodePackage is a Node that agents want which distributions don't have yet.
func nodePackage() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return "node-" + runtime.GOOS + "-" + arch + "@22.23.3"
}

// Claude returns that version of Claude Code, installing it if need be. Without
// it the test fails; only `go test -short` skips it.
func Claude(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "claude", version)
}

// Codex returns that version of Codex, as Claude does of Claude Code.
func Codex(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "codex", version)
}

// Gemini returns that version of Gemini CLI, as Claude does of Claude Code.
func Gemini(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "gemini", version)
}

// OpenCode returns that version of OpenCode, as Claude does of Claude Code.
func OpenCode(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "opencode", version)
}

// Pi returns that version of pi, as Claude does of Claude Code.
func Pi(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "pi", version)
}

// Copilot returns that version of Copilot CLI, as Claude does of Claude Code.
func Copilot(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "copilot", version)
}

// Qwen returns that version of Qwen Code, as Claude does of Claude Code.
func Qwen(t testing.TB, version string) Client {
	t.Helper()
	return installed(t, "qwen", version)
}

func installed(t testing.TB, agent, version string) Client {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out the real agents")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(10*time.Minute))
	defer cancel()
	client, err := Install(ctx, agent, version)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// InstallTested installs what the gate runs and returns it.
func InstallTested(ctx context.Context) ([]Client, error) {
	var all []Client
	for _, p := range pins() {
		if p.untested {
			continue
		}
		client, err := Install(ctx, p.agent, p.version)
		if err != nil {
			return nil, err
		}
		all = append(all, client)
	}
	return all, nil
}

// Install returns a pinned version from the cache, where it puts it if it is
// not there yet. Any number of processes may do so at once.
func Install(ctx context.Context, agent, version string) (Client, error) {
	all := pins()
	at := slices.IndexFunc(all, func(p pin) bool { return p.agent == agent && p.version == version })
	if at < 0 {
		return Client{}, fmt.Errorf("%s %s is not among the pinned versions", agent, version)
	}
	cache, err := cacheDir()
	if err != nil {
		return Client{}, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Client{}, err
	}
	p := all[at]
	place := filepath.Join(cache, p.agent+"-"+p.version)
	if err := p.ensure(ctx, cache, place); err != nil {
		return Client{}, fmt.Errorf("install %s %s: %w", agent, version, err)
	}
	return Client{Agent: agent, Version: version, Path: p.program(place)}, nil
}

// cacheDir is looked up at each call, so it is to be called before a test
// changes HOME.
func cacheDir() (string, error) {
	if dir := os.Getenv("UMBRA_CHECK_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no UMBRA_CHECK_CACHE, and %w", err)
	}
	return filepath.Join(dir, "umbra-check"), nil
}
