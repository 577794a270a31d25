CREATE TABLE "brandings" (
	"project_id" text PRIMARY KEY NOT NULL,
	"app_name" text,
	"lang" text,
	"accent" text,
	"accent_dark" text,
	"style_hash" text,
	"privacy_url" text,
	"support_url" text,
	"texts" text,
	"logo_hash" text,
	"logo_type" text,
	"logo" text,
	"domain" text,
	"domain_challenge" text,
	"domain_proved_at" bigint,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "user_display" text;--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "lang" text;--> statement-breakpoint
ALTER TABLE "brandings" ADD CONSTRAINT "brandings_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "brandings_style" ON "brandings" USING btree ("style_hash");--> statement-breakpoint
CREATE INDEX "brandings_domain" ON "brandings" USING btree ("domain");