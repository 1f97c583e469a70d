#!/usr/bin/env bash
# Serves a trained model on Vertex AI: `deploy.sh --help` and docs/jobs.md.
set -euo pipefail
# shellcheck source=examples/jobs/common.sh
. "$(dirname "$0")/common.sh"

usage() {
  cat <<'END'
deploy.sh [--dry-run] MODEL_DIR [REQUEST]: serves a model on Vertex AI and asks it once

  MODEL_DIR   the trained model, gs://…/model_YYYYmmdd_HHMMSS/model: the folder with config.json
  REQUEST     the request, a JSON file; examples/jobs/request.json by default
  --dry-run   print every command, run none

The image must contain the program `serve`; images of `make image` do.

The endpoint costs money until it is removed; the last lines say how. From the environment:

  PROJECT        the project; gcloud's own by default
  REGION         where the model is served, us-central1 by default
  IMAGE_URI      the image, $REGION-docker.pkg.dev/$PROJECT/seqtrain/seqtrain:latest by default, or
                 seqtrain:cuda if only that is there
  MODEL_NAME     the model's and the endpoint's name, seqtrain by default
  MACHINE_TYPE   the machine, n2-standard-4 by default
END
}

MODEL_DIR=
request=
for word; do
  case $word in
    --dry-run) dry_run=true ;;
    --help | -h)
      usage
      exit
      ;;
    -*) stop "there is no flag $word" "$0 --help" ;;
    *) if [[ -z $MODEL_DIR ]]; then
      MODEL_DIR=${word%/}
    elif [[ -z $request ]]; then
      request=$word
    else
      stop "$word is one argument too many" "$0 --help"
    fi ;;
  esac
done
request=${request:-$root/examples/jobs/request.json}
[[ $MODEL_DIR == gs://* ]] || stop "MODEL_DIR has to be in a bucket: '$MODEL_DIR'" \
  "gcloud storage ls gs://BUCKET/JOB_NAME/models/"
[[ -r $request ]] || stop "the request $request cannot be read"

given=${IMAGE_URI:-}
set_defaults latest
MODEL_NAME=${MODEL_NAME:-seqtrain}
MACHINE_TYPE=${MACHINE_TYPE:-n2-standard-4}
only_plain MODEL_DIR MODEL_NAME MACHINE_TYPE
here=(--project="$PROJECT" --region="$REGION")

check_account
check_place "$MODEL_DIR/config.json" "gcloud storage ls ${MODEL_DIR%/*}/"
missing=$IMAGE_URI
if ! find_image; then
  IMAGE_URI=${IMAGE_URI%:latest}:cuda # which computes on processors too
  if [[ -n $given ]] || ! find_image; then
    stop "there is no image $missing" "examples/jobs/submit.sh --build …    # or --cloud-build"
  fi
fi

run_for MODEL gcloud ai models upload "${here[@]}" --display-name="$MODEL_NAME" \
  --artifact-uri="$MODEL_DIR" --container-image-uri="$IMAGE_URI" --container-command=serve \
  --container-ports=8080 --container-health-route=/health --container-predict-route=/vertex \
  --format='value(model.basename())' || stop "the model was not accepted"
run_for ENDPOINT gcloud ai endpoints create "${here[@]}" --display-name="$MODEL_NAME" \
  --format='value(name)' || stop "no endpoint was made; the model stays" \
  "gcloud ai models delete $MODEL --project=$PROJECT --region=$REGION"

tell_removal() {
  note "The endpoint costs money until these commands have removed it:"
  note "  gcloud ai endpoints describe $ENDPOINT --format='value(deployedModels[].id)'"
  note "  gcloud ai endpoints undeploy-model $ENDPOINT --deployed-model-id=ID"
  note "  gcloud ai endpoints delete $ENDPOINT"
  note "  gcloud ai models delete $MODEL --project=$PROJECT --region=$REGION"
}
trap tell_removal EXIT

run gcloud ai endpoints deploy-model "$ENDPOINT" "${here[@]}" --model="$MODEL" \
  --display-name="$MODEL_NAME" --machine-type="$MACHINE_TYPE" --min-replica-count=1 \
  --max-replica-count=1 --traffic-split=0=100
run gcloud ai endpoints predict "$ENDPOINT" "${here[@]}" --json-request="$request"
