package secrets

// tokenRule says how an issuer's secrets look: what they begin with, and how many more
// characters there are of one set. The beginnings are those that the issuers publish,
// as https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml and
// https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns
// collect them.
type tokenRule struct {
	begin       string
	least, most int // most 0: no limit
	of          *charset
	kind        string
	keep        bool // what it begins with is no secret
	plain       bool // what it begins with is enough: it need not look drawn by lot
}

// tokenRules are tried in this order: of two beginnings the longer one first.
var tokenRules = []tokenRule{
	{begin: "sk-ant-", least: 20, of: &wordDash, kind: "anthropic-key"},
	{begin: "sk-", least: 20, of: &wordDash, kind: "api-key"}, // OpenAI, OpenRouter, DeepSeek, LiteLLM
	{begin: "sk_live_", least: 10, of: &alphanumeric, kind: "stripe-key"},
	{begin: "sk_test_", least: 10, of: &alphanumeric, kind: "stripe-key"},
	{begin: "rk_live_", least: 10, of: &alphanumeric, kind: "stripe-key"},
	{begin: "rk_test_", least: 10, of: &alphanumeric, kind: "stripe-key"},
	{begin: "whsec_", least: 24, of: &base64, kind: "webhook-secret"},
	{begin: "github_pat_", least: 36, of: &word, kind: "github-token"},
	{begin: "ghp_", least: 36, of: &alphanumeric, kind: "github-token"},
	{begin: "gho_", least: 36, of: &alphanumeric, kind: "github-token"},
	{begin: "ghu_", least: 36, of: &alphanumeric, kind: "github-token"},
	{begin: "ghs_", least: 36, of: &wordDashDot, kind: "github-token"},
	{begin: "ghr_", least: 36, of: &alphanumeric, kind: "github-token"},
	{begin: "glpat-", least: 20, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "glptt-", least: 40, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "gldt-", least: 20, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "glrt-", least: 20, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "glcbt-", least: 20, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "glsoat-", least: 20, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "gloas-", least: 60, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "glagent-", least: 50, of: &wordDashDot, kind: "gitlab-token"},
	{begin: "AKIA", least: 16, most: 16, of: &base32, kind: "aws-key", plain: true},
	{begin: "ASIA", least: 16, most: 16, of: &base32, kind: "aws-key", plain: true},
	{begin: "ABIA", least: 16, most: 16, of: &base32, kind: "aws-key", plain: true},
	{begin: "ACCA", least: 16, most: 16, of: &base32, kind: "aws-key", plain: true},
	{begin: "ABSK", least: 100, of: &base64, kind: "aws-key"},
	{begin: "AIza", least: 35, most: 35, of: &wordDash, kind: "google-key"},
	{begin: "GOCSPX-", least: 28, most: 28, of: &wordDash, kind: "google-secret"},
	{begin: "ya29.", least: 30, of: &wordDashDot, kind: "google-token"},
	{begin: "xoxe.xoxb-", least: 20, of: &wordDash, kind: "slack-token", plain: true},
	{begin: "xoxe.xoxp-", least: 20, of: &wordDash, kind: "slack-token", plain: true},
	{begin: "xoxa-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxb-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxc-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxd-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxe-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxo-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxp-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxr-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xoxs-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "xapp-", least: 16, of: &wordDash, kind: "slack-token"},
	{begin: "hooks.slack.com/services/", least: 24, of: &base64, kind: "webhook", keep: true},
	{begin: "discord.com/api/webhooks/", least: 40, of: &base64URL, kind: "webhook", keep: true},
	{begin: "npm_", least: 36, most: 36, of: &alphanumeric, kind: "npm-token"},
	{begin: "pypi-AgE", least: 50, of: &wordDash, kind: "pypi-token"},
	{begin: "rubygems_", least: 48, most: 48, of: &hex, kind: "rubygems-token"},
	{begin: "hf_", least: 30, of: &alphanumeric, kind: "hugging-face-token"},
	{begin: "SG.", least: 60, of: &wordDashDot, kind: "sendgrid-key"},
	{begin: "dop_v1_", least: 64, most: 64, of: &hex, kind: "digitalocean-token"},
	{begin: "doo_v1_", least: 64, most: 64, of: &hex, kind: "digitalocean-token"},
	{begin: "dor_v1_", least: 64, most: 64, of: &hex, kind: "digitalocean-token"},
	{begin: "dapi", least: 32, of: &hexDash, kind: "databricks-token"},
	{begin: "hvs.", least: 24, of: &wordDash, kind: "vault-token"},
	{begin: "hvb.", least: 24, of: &wordDash, kind: "vault-token"},
	{begin: "lin_api_", least: 32, of: &alphanumeric, kind: "linear-key"},
	{begin: "ntn_", least: 40, of: &alphanumeric, kind: "notion-token"},
	{begin: "shpat_", least: 32, most: 32, of: &hex, kind: "shopify-token"},
	{begin: "shpca_", least: 32, most: 32, of: &hex, kind: "shopify-token"},
	{begin: "shppa_", least: 32, most: 32, of: &hex, kind: "shopify-token"},
	{begin: "shpss_", least: 32, most: 32, of: &hex, kind: "shopify-token"},
	{begin: "glsa_", least: 32, of: &word, kind: "grafana-token"},
	{begin: "glc_", least: 32, of: &base64, kind: "grafana-token"},
	{begin: "sntrys_", least: 40, of: &base64URL, kind: "sentry-token"},
	{begin: "sntryu_", least: 64, most: 64, of: &hex, kind: "sentry-token"},
	{begin: "PMAK-", least: 50, of: &wordDash, kind: "postman-key"},
	{begin: "HRKU-", least: 36, of: &wordDash, kind: "heroku-key"},
	{begin: "ATATT3", least: 60, of: &base64URL, kind: "atlassian-token"},
	{begin: "ATCTT3", least: 60, of: &base64URL, kind: "atlassian-token"},
	{begin: "pul-", least: 40, most: 40, of: &hex, kind: "pulumi-token"},
	{begin: "tskey-", least: 20, of: &wordDash, kind: "tailscale-key"},
	{begin: "figd_", least: 30, of: &wordDash, kind: "figma-token"},
	{begin: "sbp_", least: 40, most: 40, of: &hex, kind: "supabase-token"},
	{begin: "sb_secret_", least: 20, of: &wordDash, kind: "supabase-key"},
	{begin: "gsk_", least: 40, of: &alphanumeric, kind: "groq-key"},
	{begin: "xai-", least: 40, of: &alphanumeric, kind: "xai-key"},
	{begin: "pplx-", least: 40, of: &alphanumeric, kind: "perplexity-key"},
	{begin: "r8_", least: 36, of: &alphanumeric, kind: "replicate-token"},
	{begin: "tvly-", least: 20, of: &wordDash, kind: "tavily-key"},
	{begin: "nvapi-", least: 40, of: &wordDash, kind: "nvidia-key"},
	{begin: "ctx7sk-", least: 20, of: &wordDash, kind: "context7-key"},
	{begin: "AGE-SECRET-KEY-1", least: 58, most: 58, of: &alphanumeric, kind: "age-key", plain: true},
}

// rulesBy are the rules by the first byte of what their secrets begin with.
var rulesBy = func() (by [256][]tokenRule) {
	for _, r := range tokenRules {
		by[r.begin[0]] = append(by[r.begin[0]], r)
	}
	return by
}()
