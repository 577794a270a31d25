CREATE TABLE "processes" (
	"id" text PRIMARY KEY NOT NULL,
	"beat_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "answers" ADD COLUMN "claimed_by" text;--> statement-breakpoint
ALTER TABLE "answers" ADD COLUMN "begun" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "claimed_by" text;--> statement-breakpoint
ALTER TABLE "connections" ADD COLUMN "withheld_scopes" text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "policies" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "policies_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "providers" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "mac" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "unreachable_since" bigint;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "accepted" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "accepted_mac" text;--> statement-breakpoint
CREATE INDEX "authorizations_claimed" ON "authorizations" USING btree ("claimed_by") WHERE status = 'exchanging';--> statement-breakpoint
CREATE INDEX "authorizations_held" ON "authorizations" USING btree ("deadline") WHERE response is not null;