package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Env is the whole environment to run the client in: nothing of the caller's
// but PATH, with the client first on it; home as HOME, where it also keeps its
// temporary files; the model server at baseURL; nothing sent elsewhere.
func (c Client) Env(home, baseURL string) []string {
	temp := filepath.Join(home, "tmp")
	env := []string{
		"PATH=" + filepath.Dir(c.Path) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home,
		"TMPDIR=" + temp,
		"LANG=C.UTF-8",
		"TERM=xterm-256color",
		"SHELL=/bin/bash",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		// Else npm tries for a minute to fetch plugins (OpenCode) or to see which version
		// is the newest (Claude Code up to 2.0, which leaves it behind).
		"npm_config_offline=true",
	}
	switch c.Agent {
	case "codex":
		return append(env, codexKey+"=dummy")
	case "gemini":
		return append(env, "GOOGLE_GEMINI_BASE_URL="+baseURL, "GEMINI_API_KEY=dummy", "GEMINI_CLI_NO_RELAUNCH=true")
	case "opencode":
		// What it knows of three thousand models, and what it has for the files of a person
		// at a prompt, it reads at each start: that takes half as long again.
		return append(env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_MODELS_PATH="+openCodeModels(home), "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_FFF=1",
			"OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER=1")
	case "pi":
		return append(env, "PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1")
	case "copilot":
		return append(env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+baseURL+"/v1", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=model",
			"COPILOT_AUTO_UPDATE=false", unpackedAt(filepath.Dir(filepath.Dir(filepath.Dir(c.Path)))))
	case "qwen":
		return append(env, "OPENAI_BASE_URL="+baseURL+"/v1", "OPENAI_API_KEY=dummy", "OPENAI_MODEL=model", "QWEN_USAGE_STATISTICS_ENABLED=false",
			"QWEN_CODE_SUPPRESS_YOLO_WARNING=1", "QWEN_CODE_NO_RELAUNCH=true",
			// Else its parser of shell commands is optimized before it ends: that takes ten seconds.
			"NODE_OPTIONS=--import=data:text/javascript,import%20v8%20from'node:v8';v8.setFlagsFromString('--liftoff-only')")
	}
	return append(env,
		"CLAUDE_CODE_TMPDIR="+temp,
		"IS_SANDBOX=1", // root may let tools run without asking
		"ANTHROPIC_BASE_URL="+baseURL,
		"ANTHROPIC_API_KEY=dummy",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	)
}

// Prepare makes what Env and a client on a terminal expect in home, so that a
// session in one of the workspaces starts without a dialog. baseURL is the model
// server, for a client that is told of it by a file.
func (c Client) Prepare(home, baseURL string, workspaces ...string) error {
	if err := os.MkdirAll(filepath.Join(home, "tmp"), 0o700); err != nil {
		return err
	}
	switch c.Agent {
	case "codex":
		return prepareCodex(home, baseURL, workspaces)
	case "gemini":
		return prepareGemini(home)
	case "opencode":
		return prepareOpenCode(home, baseURL)
	case "pi":
		return preparePi(home, baseURL)
	case "copilot":
		return prepareCopilot(home, workspaces)
	case "qwen":
		return prepareQwen(home)
	}
	projects := map[string]any{}
	for _, workspace := range workspaces {
		real, err := filepath.EvalSymlinks(workspace)
		if err != nil {
			return err
		}
		projects[real] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
	}
	settings, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding":        true,
		"theme":                         "dark",
		"bypassPermissionsModeAccepted": true,
		// Else it offers, now and then, another mode than the one in its user's settings.
		"hasSeenAutoDefaultNudge": true,
		"customApiKeyResponses":   map[string]any{"approved": []string{"dummy"}, "rejected": []string{}},
		"projects":                projects,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".claude.json"), settings, 0o600)
}
