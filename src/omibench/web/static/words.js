// The words of verdicts on every page. Python reads them as JSON (web/verdicts.py): keep the value valid JSON.
export const VERDICTS = {
  "right": {"word": "right", "meaning": "right"},
  "partly": {"word": "partly right", "meaning": "partly right: in some samples, or with partial credit"},
  "wrong": {"word": "wrong", "meaning": "wrong"},
  "failed": {"word": "no answer", "meaning": "no answer to score"},
  "none": {"word": "no verdict", "meaning": "no verdict: no response, or not scored yet"}
};
