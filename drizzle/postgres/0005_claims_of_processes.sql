CREATE TABLE "processes" (
	"id" text PRIMARY KEY NOT NULL,
	"beat_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "claimed_by" text;--> statement-breakpoint
CREATE INDEX "authorizations_claimed" ON "authorizations" USING btree ("claimed_by") WHERE status = 'exchanging';--> statement-breakpoint
CREATE INDEX "authorizations_held" ON "authorizations" USING btree ("deadline") WHERE response is not null;